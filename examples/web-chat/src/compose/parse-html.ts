interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(html: string): string }): { createHTML(html: string): string }
}

let policy: { createHTML(html: string): string } | undefined

/** The document of some HTML: nothing of it runs or is loaded. Styles are in `data-style`, as the policy of the page reports those of attributes. */
export function parseHtml(html: string): Document {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  policy ??= trustedTypes?.createPolicy('chat-paste', { createHTML: (each) => each })
  const plain = html.replace(/<[a-z][^>]*/gi, (tag) => tag.replace(/\sstyle=/i, ' data-style='))
  return new DOMParser().parseFromString(policy ? policy.createHTML(plain) : plain, 'text/html')
}
