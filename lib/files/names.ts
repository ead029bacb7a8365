import { wellFormed } from '../core/whole-begin.ts'

/**
 * A `Content-Disposition` header with a name (RFC 6266): in ASCII for what reads nothing else, and completely.
 *
 * @param name any text; what a header cannot have is replaced
 */
export function contentDisposition(kind: 'attachment' | 'inline', name: string): string {
  // Quotes and backslashes would need escapes, and %41 is decoded by some browsers: neither is in the plain name. Of wide
  // letters, NFKD makes separators of paths, and names of folders.
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7E]/gu, '_')
    .replace(/["\\%/]|^\.{1,2}$/g, '_')
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encodeExtended(name)}`
}

/** RFC 8187, section 3.2.1: `attr-char` as they are, all others by their bytes of UTF-8. */
function encodeExtended(text: string): string {
  return encodeURIComponent(wellFormed(text)).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
