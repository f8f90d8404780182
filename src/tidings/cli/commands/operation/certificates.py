"""`tidings certificates`: creates a local certificate authority and certificates, to try TLS."""

from argparse import Namespace
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.cli.input.arguments import Parser, UsageError, count

if TYPE_CHECKING:
    from tidings.server.security.certificates import Files

DESCRIPTION = """\
Make a certificate for a broker, and a local authority that signs it, to try TLS with or to use within a network of
your own. Clients that trust the authority (ca.pem) trust the broker. Where everybody is to trust it, take a certificate
of a public authority instead: tidings serve takes any.
The authority is made once; later calls with the same folder use it. Nothing is overwritten, and keys are readable for
their owner only. Whoever has ca-key.pem can pretend to be any broker: keep it to yourself."""
EXAMPLES = """\
examples:
  tidings certificates
  tidings certificates broker.example.org 192.0.2.7 --folder certificates
  tidings certificates --client lamp-7
"""
DEFAULT = Path("tidings-certificates")


def parser() -> Parser:
    result = Parser("tidings certificates", DESCRIPTION, EXAMPLES)
    result.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help="name or address of the broker (localhost, 127.0.0.1, ::1 and the name of this machine)",
    )
    result.add_argument("--folder", metavar="FOLDER", type=Path, default=DEFAULT, help=f"where to ({DEFAULT})")
    result.add_argument("--client", metavar="NAME", help="make a certificate for a client instead, of this name")
    result.add_argument("--days", metavar="N", type=count, default=365, help="days for which it is valid (365)")
    return result


def run(arguments: Namespace) -> int:
    from tidings.server.security import certificates  # imported here because `--help` needs no cryptography

    if arguments.client is not None and arguments.names:
        raise UsageError("a certificate for a client has one name: the one of --client")
    folder, client, now = arguments.folder, arguments.client, datetime.now(UTC)
    files = certificates.server_files(folder) if client is None else certificates.client_files(folder, client)
    names = [certificates.server_name(name) for name in arguments.names or certificates.default_names()]
    certificates.check_free(files)
    signer, ends = certificates.authority(folder, now), now + timedelta(days=arguments.days)
    if client is None:
        certificates.certify_server(signer, files, names, now, ends)
        print(for_server([str(name.value) for name in names], folder, files, ends))
    else:
        certificates.certify_client(signer, files, client, now, ends)
        print(for_client(client, folder, files, ends))
    return 0


def for_server(names: Sequence[str], folder: Path, files: "Files", ends: datetime) -> str:
    """The message that says which files were created, and how to use them."""
    host = f"[{names[0]}]" if ":" in names[0] else names[0]
    ca = folder / "ca.pem"
    return (
        f"{files.certificate} is a certificate for {', '.join(names)}, good until {ends:%Y-%m-%d}\n"
        f"  serve with it:     tidings serve --tls-certificate {files.certificate} --tls-key {files.key}\n"
        f"  ask over TLS:      curl --cacert {ca} https://{host}:8443/status\n"
        f"                     tidings query --http https://{host}:8443 --ca {ca} 'ASK {{}}'\n"
        f"  for its clients:   {ca}, which is no secret\n"
        f"  keep to yourself:  {folder / 'ca-key.pem'} and {files.key}"
    )


def for_client(name: str, folder: Path, files: "Files", ends: datetime) -> str:
    ca = folder / "ca.pem"
    return (
        f"{files.certificate} is a certificate for the client {name}, good until {ends:%Y-%m-%d}\n"
        f"  ask for it:        tidings serve --tls-certificate {folder / 'server.pem'} "
        f"--tls-key {folder / 'server-key.pem'} --tls-client-ca {ca}\n"
        f"  show it:           curl --cacert {ca} --cert {files.certificate} --key {files.key} "
        f"https://localhost:8443/status\n"
        f"                     TIDINGS_CERTIFICATE={files.certificate} TIDINGS_KEY={files.key} "
        f"tidings status --http https://localhost:8443 --ca {ca}"
    )
