import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FILE_TYPES } from '../../lib/core/file-types.ts'
import { pictureSize } from '../../lib/files/picture-size.ts'
import { isInlineType, sniff } from '../../lib/files/sniff.ts'
import { bytesOf, ebml, exif, ftyp, HOSTILE, JPEG, MP3, pngHeader, segment } from '../support/pictures.ts'

const jpeg = (...metadata: Uint8Array[]) => bytesOf(JPEG.start, ...metadata, JPEG.picture, JPEG.end)

/** The first pages of streams of Ogg, one for each. */
const oggPages = (...contents: string[]) =>
  bytesOf(...contents.flatMap((content) => ['OggS\0', [2], new Uint8Array(20), [1, content.length], content]))

const box = (type: string, ...parts: Uint8Array[]) => {
  const content = bytesOf(...parts)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length + 8)
  return bytesOf(length, type, content)
}
const long = (...numbers: number[]) => {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [n, number] of numbers.entries()) bytes.writeUInt32BE(number, n * 4)
  return bytes
}

/** An AVIF whose second item is shown, with these properties: the first one is of a thumbnail. */
function avif(properties: Buffer[], { item = 2, wide = false } = {}): Buffer {
  const all = [box('ispe', long(0, 1, 1)), ...properties]
  const own = properties.flatMap((_, n) => (wide ? [0x80, n + 2] : [0x80 | (n + 2)]))
  const ids = wide
    ? [[1, 0, 0, 1], long(2), long(1), [1], [0, 1], long(2)]
    : [long(0), long(2), [0, 1], [1], [1], [0, 2]]
  const ipma = box('ipma', bytesOf(...ids, [properties.length], own))
  const meta = box('meta', long(0), box('pitm', bytesOf([0, 0, 0, 0, 0, item])), box('iprp', box('ipco', ...all), ipma))
  return bytesOf(ftyp('avif', 'mif1'), meta)
}

describe('the type of a file', () => {
  it.each<[string, Buffer]>([
    ['image/png', pngHeader(1, 1)],
    ['image/jpeg', jpeg(JPEG.jfif)],
    ['image/gif', bytesOf('GIF87a', [1, 0, 1, 0])],
    ['image/gif', bytesOf('GIF89a', [1, 0, 1, 0])],
    ['image/webp', bytesOf('RIFF', [4, 0, 0, 0], 'WEBPVP8 ')],
    ['image/avif', ftyp('avif', 'mif1', 'miaf')],
    ['image/avif', ftyp('mif1', 'avif')],
    ['image/avif', ftyp('avis', 'avif', 'msf1')],
    ['video/mp4', ftyp('isom', 'iso2', 'avc1', 'mp41')],
    ['video/mp4', ftyp('mp42')],
    ['audio/mp4', ftyp('M4A ', 'mp42', 'isom')],
    ['audio/mp4', ftyp('M4B ', 'M4A ')],
    ['video/mp4', ftyp('M4V ', 'M4A ')],
    ['video/mp4', ftyp('XYZ1', 'isom')],
    ['application/octet-stream', ftyp('qt  ', 'mp42')],
    ['application/octet-stream', ftyp('mif1', 'heic')],
    ['video/webm', ebml('webm')],
    ['video/webm', bytesOf([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x10, 0, 0, 8], 'webm\0\0\0\0')],
    ['application/octet-stream', ebml('webmx')],
    ['audio/mpeg', bytesOf('ID3', [4, 0, 0, 0, 0, 0, 0])],
    ['audio/mpeg', MP3],
    ['audio/mpeg', MP3.subarray(0, 100)],
    ['application/octet-stream', bytesOf(MP3.subarray(0, 417), 'no other frame')],
    ['application/octet-stream', bytesOf('ID3', [0xff, 0, 0, 0, 0, 0, 0])],
    ['audio/ogg', bytesOf('OggS\0', [2])],
    ['audio/ogg', oggPages('\x01vorbis')],
    ['audio/ogg', oggPages('OpusHead')],
    ['video/ogg', oggPages('\x80theora')],
    ['video/ogg', oggPages('\x01vorbis', '\x80theora')],
    ['video/ogg', oggPages('fishead\0', 'OpusHead', 'OVP80')],
    ['audio/ogg', oggPages(...Array.from({ length: 200 }, () => 'OpusHead'), '\x80theora')],
    ['audio/wav', bytesOf('RIFF', [4, 0, 0, 0], 'WAVEfmt ')],
    ['audio/flac', bytesOf('fLaC\0')],
    ['application/pdf', bytesOf('%PDF-1.4')],
    ['application/octet-stream', Buffer.alloc(0)],
    ['application/octet-stream', bytesOf('RIFF')],
  ])('%s', (type, bytes) => {
    expect(sniff(bytes)).toBe(type)
  })

  it.each(Object.entries(HOSTILE))('of %s', (_, [type, bytes]) => {
    expect(sniff(bytes)).toBe(type)
  })

  it('is one of the list for any bytes, and the same however many follow', () => {
    const starts = Object.values(HOSTILE).map(([, bytes]) => bytes)
    fc.assert(
      fc.property(fc.constantFrom(...starts), fc.nat(40), fc.uint8Array({ maxLength: 200 }), (start, cut, rest) => {
        const bytes = bytesOf(start.subarray(0, cut), rest)
        expect(FILE_TYPES).toContain(sniff(bytes))
        expect(sniff(bytesOf(bytes, new Uint8Array(8192)))).toBe(sniff(bytesOf(bytes, new Uint8Array(20_000))))
      }),
    )
  })

  it('may be shown in a page if it is a raster picture, audio or video', () => {
    const shown = FILE_TYPES.filter(isInlineType)
    expect(shown).toEqual(FILE_TYPES.filter((type) => !type.startsWith('application/')))
    for (const type of ['image/svg+xml', 'text/html', 'image/x-icon', 'application/xml', 'IMAGE/PNG', ''])
      expect(isInlineType(type)).toBe(false)
  })
})

const webp = (chunk: string, content: number[]) => bytesOf('RIFF', [30, 0, 0, 0], 'WEBP', chunk, [10, 0, 0, 0], content)

describe('the size of a picture', () => {
  it.each<[string, Buffer, [number, number] | undefined]>([
    ['a PNG', pngHeader(3, 4), [3, 4]],
    ['a bomb', pngHeader(100_000, 100_000), [100_000, 100_000]],
    ['a PNG of no width', pngHeader(0, 4), undefined],
    ['a PNG of more than there can be', pngHeader(0xffffffff, 4), undefined],
    ['half a header', pngHeader(3, 4).subarray(0, 23), undefined],
    ['a GIF', bytesOf('GIF89a', [2, 1, 3, 0]), [258, 3]],
    ['a WebP with loss', webp('VP8 ', [0, 0, 0, 0x9d, 1, 0x2a, 16, 0x40, 8, 0]), [16, 8]],
    ['a WebP without loss', webp('VP8L', [0x2f, 15, 0xc0, 1, 0, 0, 0, 0, 0, 0]), [16, 8]],
    ['an extended WebP', webp('VP8X', [0, 0, 0, 0, 15, 0, 0, 7, 0, 1]), [16, 65_544]],
    ['a JPEG', jpeg(JPEG.jfif), [16, 8]],
    ['a JPEG that lies on its side', jpeg(segment(0xe1, exif('II', 6))), [8, 16]],
    ['a JPEG that stands on its head', jpeg(segment(0xe1, exif('MM', 3))), [16, 8]],
    ['a JPEG with other bytes between its segments', jpeg(JPEG.jfif, bytesOf('other', [0xff, 0, 0xff])), [16, 8]],
    ['a JPEG that is cut in its frame', bytesOf(JPEG.start, [0xff, 0xc0, 0, 11, 8, 0]), undefined],
    ['a JPEG whose segment is longer than it', bytesOf(JPEG.start, [0xff, 0xe1, 0xff, 0xff, 1, 2]), undefined],
    ['an AVIF', avif([box('ispe', long(0, 16, 8))]), [16, 8]],
    ['an AVIF of many items', avif([box('ispe', long(0, 16, 8))], { wide: true }), [16, 8]],
    ['an AVIF that lies on its side', avif([box('ispe', long(0, 16, 8)), box('irot', Buffer.from([3]))]), [8, 16]],
    ['an AVIF that stands on its head', avif([box('ispe', long(0, 16, 8)), box('irot', Buffer.from([2]))]), [16, 8]],
    ['an AVIF without its item', avif([box('ispe', long(0, 16, 8))], { item: 7 }), undefined],
    ['an AVIF without a size', avif([box('irot', Buffer.from([1]))]), undefined],
    ['an AVIF that is cut', avif([box('ispe', long(0, 16, 8))]).subarray(0, 90), undefined],
    ['another file', bytesOf('%PDF-1.4'), undefined],
  ])('%s', (_, bytes, size) => {
    expect(pictureSize(bytes)).toEqual(size && { width: size[0], height: size[1] })
  })

  it('is told or not, for any bytes', () => {
    const starts = [
      jpeg(segment(0xe1, exif('II', 6))),
      jpeg(segment(0xe1, exif('MM', 5))),
      pngHeader(1, 1),
      webp('VP8X', []),
      avif([box('ispe', long(0, 16, 8)), box('irot', Buffer.from([1]))]),
      avif([box('ispe', long(0, 16, 8))], { wide: true }),
    ]
    fc.assert(
      fc.property(fc.constantFrom(...starts), fc.nat(200), fc.nat(255), fc.nat(200), (start, at, byte, cut) => {
        const bytes = Buffer.from(start.subarray(0, cut))
        if (at < bytes.length) bytes[at] = byte
        const size = pictureSize(bytes)
        if (size) expect(Math.min(size.width, size.height)).toBeGreaterThan(0)
      }),
      { numRuns: 2000 },
    )
  })

  it('of 4 MiB of markers takes as long as reading them', () => {
    expect(pictureSize(bytesOf([0xff, 0xd8], Buffer.alloc(4 * 1024 * 1024, 0xff)))).toBeUndefined()
    expect(pictureSize(Buffer.alloc(4 * 1024 * 1024, Buffer.from([0xff, 0xd8])))).toBeUndefined()
    const boxes = Buffer.alloc(4 * 1024 * 1024, box('free'))
    expect(pictureSize(bytesOf(ftyp('avif'), boxes))).toBeUndefined()
    expect(pictureSize(bytesOf(ftyp('avif'), box('meta', long(0), boxes)))).toBeUndefined()
  })
})
