import { createHash } from 'node:crypto'

/** The end of the name of the file beside a backup that has its SHA-256. */
export const DIGEST_END = '.sha256'

/** A digest as `sha256sum` writes and checks it. @param name of the file; `-` for standard output */
export function toDigestLine(name: string, sha256: string): string {
  const escaped = name.replace(/[\\\n\r]/g, (character) => ESCAPED[character]!)
  return `${escaped === name ? '' : '\\'}${sha256}  ${escaped}\n`
}

const ESCAPED: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' }

/** The digest of a file in lines of `sha256sum`, or the only one: the file may have another name now. `undefined` without one. */
export function findDigest(lines: string, name: string): string | undefined {
  const digests = [...lines.matchAll(/^\\?([\da-f]{64}) [ *].+$/gm)].map(([line, sha256]) => ({
    line,
    sha256: sha256!,
  }))
  const own = digests.find(({ line, sha256 }) => `${line.replace(' *', '  ')}\n` === toDigestLine(name, sha256))
  return (own ?? (digests.length === 1 ? digests[0] : undefined))?.sha256
}

/** A stream, with its size and its SHA-256 once all of it is read. */
export interface Hashed {
  bytes: AsyncIterable<Uint8Array>
  size: () => number
  sha256: () => string
}

/** Computes the SHA-256 of bytes while they are read. */
export function hashed(bytes: AsyncIterable<Uint8Array>): Hashed {
  const hash = createHash('sha256')
  let size = 0
  async function* read(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      hash.update(chunk)
      size += chunk.length
      yield chunk
    }
  }
  return { bytes: read(), size: () => size, sha256: () => hash.digest('hex') }
}

/** The SHA-256 of bytes, which are read to their end. */
export async function digestBytes(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of bytes) hash.update(chunk)
  return hash.digest('hex')
}
