/** The nonce that the Content-Security-Policy of the page requires for styles added at run time. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="nonce"]')?.content ?? "";
