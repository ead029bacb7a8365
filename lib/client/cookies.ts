/** Keeps the cookies of a response, where the runtime does not: in Node, not in browsers. */
export function keepCookies(jar: Map<string, string>, cookies: readonly string[]): void {
  for (const cookie of cookies) {
    const [pair = '', ...attributes] = cookie.split(';')
    const name = pair.slice(0, pair.indexOf('='))
    if (attributes.some((attribute) => attribute.trim().toLowerCase() === 'max-age=0')) jar.delete(name)
    else jar.set(name, pair.slice(name.length + 1))
  }
}
