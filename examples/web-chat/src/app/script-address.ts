/** The scripts of the page that run outside of it: its service worker, and what finds the colors of code. */
const SCRIPTS = /\/(?:sw|highlight-[A-Z0-9]{8})\.js$/

let policy: { createScriptURL(url: string): string } | undefined

/** The address of a script has to be of a policy: this one knows the scripts of the page. */
export function scriptAddress(address: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  policy ??= trustedTypes?.createPolicy('chat-worker', {
    createScriptURL(url) {
      const { origin, pathname } = new URL(url)
      if (origin !== location.origin || !SCRIPTS.test(pathname)) throw new TypeError('not a script of the page')
      return url
    },
  })
  return policy ? policy.createScriptURL(address) : address
}

/** What TypeScript has no types of yet; the address is one of an own type, which takes the place of a text. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}
