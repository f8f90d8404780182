/** What the policy of the page asks of styles that are made as it runs. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="nonce"]')?.content ?? "";
