/** An address in a text that is a link without any marks around it. */
export interface Autolink {
  start: number
  end: number
  href: string
}

const URLS = /(?:(?<![a-z\d])(?:https?|ftp):\/\/|(?<![\p{L}\p{N}])www\.)[^\s<]+/giu
const BEGINNING = /^(?:\w+:\/\/|www\.)[\p{L}\p{N}[]/iu
const ADDRESSES = /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g

/** The addresses of the web and of mail in a text, in their order. GitHub's Markdown has the same. */
export function autolinksIn(text: string): Autolink[] {
  const links: Autolink[] = []
  for (const { 0: url, index } of text.matchAll(URLS)) {
    const address = withoutEnd(url)
    if (!BEGINNING.test(address)) continue
    links.push({
      start: index,
      end: index + address.length,
      href: /^www/i.test(address) ? `http://${address}` : address,
    })
  }
  for (const { 0: address, index } of text.matchAll(ADDRESSES)) {
    const emphasis = /^_*/.exec(address)![0].length
    const mail = address.slice(emphasis).replace(/_+$/, '')
    if (mail[0] === '@' || /[-.]$/.test(mail)) continue
    const start = index + emphasis
    links.push({ start, end: start + mail.length, href: `mailto:${mail}` })
  }
  return links.sort((one, other) => one.start - other.start)
}

/** An address without what rather belongs to the sentence: marks at its end, and a parenthesis that it did not open. */
function withoutEnd(url: string): string {
  let unopened = 0
  for (const letter of url) unopened += letter === ')' ? 1 : letter === '(' ? -1 : 0
  let end = url.length
  for (; end > 0; end--) {
    const letter = url[end - 1]!
    if (letter === ')' && unopened > 0) unopened--
    else if (letter === ';') {
      const entity = /&[a-z\d]{1,31};$/i.exec(url.slice(Math.max(0, end - 33), end))
      if (!entity) break
      end -= entity[0].length - 1
    } else if (!'?!.,:*_~\'"'.includes(letter)) break
  }
  return url.slice(0, end)
}
