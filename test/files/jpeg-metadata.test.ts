import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanJpeg, type JpegState } from '../../lib/files/jpeg-metadata.ts'
import { pictureSize } from '../../lib/files/picture-size.ts'
import { bytesOf, exif, HOSTILE, JPEG, segment } from '../support/pictures.ts'

const SECRET = 'GPS 47.3769 N 8.5417 E'
const icc = segment(0xe2, bytesOf('ICC_PROFILE\0', [1, 1], 'the profile'))
const adobe = segment(0xee, bytesOf('Adobe', [0, 100, 0, 0, 0, 0, 1]))

const METADATA: Record<string, Buffer> = {
  Exif: segment(0xe1, exif('II', 1, SECRET)),
  XMP: segment(0xe1, bytesOf('http://ns.adobe.com/xap/1.0/\0', `<x:xmpmeta>${SECRET}</x:xmpmeta>`)),
  IPTC: segment(0xed, bytesOf('Photoshop 3.0\x008BIM', SECRET)),
  'a comment': segment(0xfe, bytesOf(SECRET)),
  'a thumbnail of JFIF': segment(0xe0, bytesOf('JFIF\0', [1, 1, 0, 0, 1, 0, 1, 4, 2], SECRET)),
  'an extension of JFIF': segment(0xe0, bytesOf('JFXX\0', [0x13], SECRET)),
  'other pictures': segment(0xe2, bytesOf('MPF\0', SECRET)),
  'notes of a maker': segment(0xe5, bytesOf(SECRET)),
  'bytes behind the name of Adobe': segment(0xee, bytesOf('Adobe', [0, 100, 0, 0, 0, 0, 1], SECRET)),
  'a segment of 64 KiB': segment(0xe1, bytesOf('Exif\0\0', Buffer.alloc(65_000), SECRET)),
}

const jpeg = (...metadata: Uint8Array[]) => bytesOf(JPEG.start, ...metadata, JPEG.picture, JPEG.end)

/** The whole, cleaned in parts of these sizes; the last size is repeated. */
function clean(bytes: Buffer, ...sizes: number[]): Buffer {
  const cleaned: Uint8Array[] = []
  let state: JpegState | undefined
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[Math.min(n, sizes.length - 1)] ?? bytes.length
    const part = cleanJpeg(bytes.subarray(at, at + size), state)
    cleaned.push(part.bytes)
    state = part.state
    at += size
  }
  return Buffer.concat(cleaned)
}

describe('of a JPEG', () => {
  it.each(Object.entries(METADATA))('%s is blanked, and nothing else', (_, metadata) => {
    const bytes = jpeg(JPEG.jfif, metadata, icc, adobe)
    const cleaned = clean(bytes)
    expect(cleaned.length).toBe(bytes.length)
    expect(cleaned.includes('GPS')).toBe(false)
    const [before, after] = [JPEG.start.length + JPEG.jfif.length, metadata.length]
    expect(cleaned.subarray(0, before)).toEqual(bytes.subarray(0, before))
    expect(cleaned.subarray(before + after)).toEqual(bytes.subarray(before + after))
    expect(clean(cleaned)).toEqual(cleaned)
  })

  it('what follows the picture is blanked: other pictures, and films', () => {
    const cleaned = clean(bytesOf(jpeg(JPEG.jfif), jpeg(METADATA.Exif!), SECRET))
    expect(cleaned.subarray(0, jpeg(JPEG.jfif).length)).toEqual(jpeg(JPEG.jfif))
    expect(cleaned.subarray(jpeg(JPEG.jfif).length).every((byte) => byte === 0)).toBe(true)
  })

  it.each(['II', 'MM'] as const)('the orientation in %s stays, and stays alone', (order) => {
    for (let orientation = 1; orientation <= 8; orientation++) {
      const bytes = jpeg(segment(0xe1, exif(order, orientation, SECRET)))
      const cleaned = clean(bytes)
      expect(cleaned.includes('GPS')).toBe(false)
      expect(cleaned.subarray(6, 6 + 32)).toEqual(
        bytesOf('Exif\0\0MM', [0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]),
      )
      expect(pictureSize(cleaned)).toEqual(pictureSize(bytes))
    }
  })

  it('the picture is the same, whatever stuffed bytes and restarts are in it', () => {
    const scan = bytesOf([1, 0xff, 0, 0xff, 0xd0, 2, 0xff, 0xff, 0xd1, 0xff, 0, 0xe1, 0xe1, 3])
    const bytes = bytesOf(JPEG.start, JPEG.picture, scan, JPEG.picture, scan, JPEG.end)
    expect(clean(bytes)).toEqual(bytes)
  })

  it('what follows more segments than a picture has is blanked: each takes time', () => {
    const bytes = jpeg(...Array.from({ length: 10_001 }, () => segment(0xdb, bytesOf([1]))))
    const cleaned = clean(bytes)
    expect(cleaned).toHaveLength(bytes.length)
    expect(cleaned.subarray(0, 1000).equals(bytes.subarray(0, 1000))).toBe(true)
    expect(cleaned.subarray(-JPEG.picture.length).every((byte) => byte === 0)).toBe(true)
    expect(pictureSize(bytes)).toBeUndefined()
  })

  it('a segment that begins in one part is blanked in the next', () => {
    const bytes = jpeg(segment(0xe1, exif('II', 6, 'x'.repeat(500) + SECRET)))
    const cleaned = clean(bytes, 100)
    expect(cleaned.includes('xx')).toBe(false)
    expect(cleaned).toEqual(clean(bytes))
    expect(pictureSize(cleaned)).toEqual({ width: 8, height: 16 })
  })

  it('the metadata is gone wherever parts end, and the rest is there', () => {
    const every = jpeg(JPEG.jfif, ...Object.values(METADATA).slice(0, -1), icc, adobe)
    const kept = [JPEG.jfif, icc, adobe, JPEG.picture]
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 3, max: 400 }), { minLength: 1 }), (sizes) => {
        const cleaned = clean(every, ...sizes)
        expect(cleaned.length).toBe(every.length)
        expect(cleaned.toString('latin1')).not.toMatch(/47\.3769|8\.5417/)
        for (const each of kept) expect(cleaned.includes(each)).toBe(true)
      }),
    )
  })

  it('whatever is broken, the length stays, and what a decoder reads as metadata is blank', () => {
    const start = jpeg(JPEG.jfif, METADATA.Exif!, icc, METADATA['a comment']!)
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(start.length - 1), fc.nat(255)), { maxLength: 8 }),
        fc.nat(start.length),
        fc.integer({ min: 3, max: 300 }),
        (changes, cut, size) => {
          const bytes = Buffer.from(start)
          for (const [at, byte] of changes) bytes[at] = byte
          const cleaned = clean(bytes.subarray(0, cut), size)
          expect(cleaned.length).toBe(cut)
          expect(clean(cleaned, size).length).toBe(cut)
        },
      ),
      { numRuns: 2000 },
    )
  })
})

it('other files are as they were', () => {
  for (const [type, bytes] of Object.values(HOSTILE)) if (type !== 'image/jpeg') expect(clean(bytes, 5)).toEqual(bytes)
})
