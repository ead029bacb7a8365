import { describe, expect, it } from 'vitest'
import { exifWith } from '../../../lib/files/exif.ts'
import { PictureError } from '../../../lib/files/pictures/picture-error.ts'
import { stripPicture } from '../../../lib/files/pictures/strip.ts'
import {
  exif,
  ihdr,
  jpeg,
  LOSSLESS,
  LOSSY,
  PNG_SIGNATURE,
  png,
  pngChunk,
  segment,
  vp8x,
  webp,
  webpChunk,
} from './make.ts'

const CANARY = 'canary <script>alert(1)</script>'
const TEXT = Buffer.from(CANARY)
const tiff = (orientation: number) => exifWith(orientation).subarray(6)

function problemOf(bytes: Uint8Array): string {
  try {
    stripPicture(bytes)
  } catch (error) {
    if (error instanceof PictureError) return error.problem
    throw error
  }
  return 'none'
}

const stripped = (bytes: Uint8Array) => stripPicture(bytes).bytes

/** What is written stays as it is when it is written again. */
function expectStripped(dirty: Buffer, clean: Buffer): void {
  const { bytes } = stripPicture(dirty)
  expect(bytes.toString('base64')).toBe(clean.toString('base64'))
  expect(stripped(bytes).equals(bytes)).toBe(true)
  expect(bytes.includes('canary')).toBe(false)
}

const PROFILE = Buffer.from('a profile of colors')
const iccp = (name: string) => pngChunk('iCCP', Buffer.concat([Buffer.from(`${name}\0\0`, 'latin1'), PROFILE]))
const iccSegment = segment(0xe2, Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1'), PROFILE]))
const FRAME_OF_ANIMATION = Buffer.concat([pngChunk('acTL', Buffer.alloc(8)), pngChunk('fcTL', Buffer.alloc(26))])

const PICTURES = {
  png: png(3, 2),
  jpeg: jpeg(3, 2),
  'lossy webp': webp(webpChunk('VP8 ', LOSSY)),
  'lossless webp': webp(webpChunk('VP8L', LOSSLESS)),
  'extended webp': webp(vp8x(1, 1, 0x18), webpChunk('VP8L', LOSSLESS), webpChunk('EXIF', tiff(6))),
}

describe('a picture', () => {
  it.each(Object.entries(PICTURES))('stays as it is without more, and loses what follows it (%s)', (_, bytes) => {
    expectStripped(Buffer.concat([bytes, TEXT]), bytes)
  })

  it('has the type of its first bytes', () => {
    const types = Object.values(PICTURES).map((bytes) => stripPicture(bytes).type)
    expect(types).toEqual(['image/png', 'image/jpeg', 'image/webp', 'image/webp', 'image/webp'])
    for (const other of ['', 'GIF89a', '<svg/>', '\0\0\0\x1CftypavifXXXX', 'BM', 'RIFF\0\0\0\0WAVE', '%PDF-1.7'])
      expect(problemOf(Buffer.from(other, 'latin1'))).toBe('unsupported')
  })

  it('of PNG keeps its colors and its orientation', () => {
    const kept = [pngChunk('gAMA', Buffer.alloc(4)), pngChunk('eXIf', tiff(6))]
    const dirty = png(
      3,
      2,
      [
        pngChunk('tEXt', TEXT),
        FRAME_OF_ANIMATION,
        iccp('canary'),
        kept[0]!,
        pngChunk('eXIf', Buffer.concat([tiff(6), TEXT])),
        pngChunk('prVt', TEXT),
      ],
      [pngChunk('fdAT', TEXT), pngChunk('tIME', Buffer.alloc(7)), pngChunk('gAMA', TEXT)],
    )
    expectStripped(dirty, png(3, 2, [iccp('ICC'), ...kept]))
    expectStripped(png(1, 1, [iccp('canary'.repeat(14)), pngChunk('sRGB', TEXT), pngChunk('eXIf', TEXT)]), png(1, 1))
  })

  it('of JPEG keeps its colors and its orientation', () => {
    const adobe = segment(0xee, Buffer.from('Adobe\0d\0\0\0\0\x01', 'latin1'))
    const dirty = jpeg(3, 2, [
      exif(6, CANARY),
      exif(3),
      iccSegment,
      segment(0xe1, Buffer.from(`http://ns.adobe.com/xap/1.0/\0${CANARY}`)),
      segment(0xe2, Buffer.from(`MPF\0${CANARY}`)),
      segment(0xed, TEXT),
      Buffer.concat([adobe.subarray(0, 2), segment(0, Buffer.concat([adobe.subarray(4), TEXT])).subarray(2)]),
      segment(0xfe, TEXT),
    ])
    const { bytes } = stripPicture(dirty)
    const clean = jpeg(3, 2, [iccSegment, adobe])
    expect(bytes.equals(Buffer.concat([clean.subarray(0, 2), exif(6), clean.subarray(2)]))).toBe(true)
    expect(stripped(bytes).equals(bytes)).toBe(true)
    const thumbnail = Buffer.from(`JFIF\0\x01\x01\0\0\x48\0\x48\x05\x05${CANARY}`, 'latin1')
    expect(stripped(jpeg(1, 1, [segment(0xe0, thumbnail)])).includes('canary')).toBe(false)
  })

  it('of WebP keeps its colors and its orientation', () => {
    const parts = [webpChunk('ICCP', PROFILE), webpChunk('ALPH', Buffer.alloc(3)), webpChunk('VP8 ', LOSSY)]
    const [profile, alpha, pixels] = parts as [Buffer, Buffer, Buffer]
    const dirty = webp(
      vp8x(1, 1, 0xff & ~0x02),
      webpChunk('canr', TEXT),
      profile,
      alpha,
      pixels,
      webpChunk('EXIF', Buffer.concat([exifWith(8), TEXT])),
      webpChunk('XMP ', TEXT),
    )
    expectStripped(dirty, webp(vp8x(1, 1, 0x38), profile, alpha, pixels, webpChunk('EXIF', tiff(8))))
    expectStripped(webp(vp8x(1, 1, 0x04), pixels, webpChunk('XMP ', TEXT)), webp(pixels))
    expectStripped(webp(pixels, webpChunk('XMP ', TEXT)), webp(pixels))
  })
})

describe('a picture is refused', () => {
  it('that is cut anywhere', { timeout: 30_000 }, () => {
    for (const bytes of Object.values(PICTURES)) {
      for (let length = 12; length < bytes.length; length++)
        expect([length, problemOf(bytes.subarray(0, length))]).toEqual([length, 'broken'])
      for (let length = 0; length < 12; length++) expect(problemOf(bytes.subarray(0, length))).not.toBe('none')
    }
  })

  it.each([
    ['png', png(1, 1).fill(0xff, 33, 37)],
    ['webp', webp(Buffer.concat([Buffer.from('VP8 \xff\xff\xff\xff', 'latin1'), LOSSY]))],
    ['webp of a larger file', webp(webpChunk('VP8 ', LOSSY)).fill(0xff, 4, 8)],
    ['partition', webp(webpChunk('VP8 ', Buffer.from(LOSSY).fill(0xf0, 0, 3)))],
  ])('with a length beyond its end (%s)', (_, bytes) => expect(problemOf(bytes)).toBe('broken'))

  it.each([
    ['PNG', png(4097, 1), png(1, 4097)],
    ['JPEG', jpeg(4097, 1), jpeg(1, 4097)],
    ['WebP', webp(webpChunk('VP8L', sized(4097, 1))), webp(vp8x(1, 4097), webpChunk('VP8L', sized(1, 1)))],
  ])('with a side of more than 4,096 pixels (%s)', (_, ...pictures) => {
    expect(pictures.map(problemOf)).toEqual(['large', 'large'])
  })

  it('without a pixel, or up to the largest', () => {
    for (const bytes of [png(0, 1), jpeg(1, 0), webp(webpChunk('VP8 ', Buffer.from(LOSSY).fill(0, 6, 8)))])
      expect(problemOf(bytes)).toBe('broken')
    for (const bytes of [png(4096, 1), jpeg(4096, 4096), webp(webpChunk('VP8L', sized(4096, 4096)))])
      expect(problemOf(bytes)).toBe('none')
  })

  it('that is an animated WebP', () => {
    const pixels = webpChunk('VP8L', LOSSLESS)
    expect(problemOf(webp(vp8x(1, 1, 0x02), pixels))).toBe('animated')
    for (const type of ['ANIM', 'ANMF'])
      expect(problemOf(webp(vp8x(1, 1), webpChunk(type, Buffer.alloc(16)), pixels))).toBe('animated')
  })

  it('that is a PNG out of order, or with a wrong checksum', () => {
    const [end, data] = [pngChunk('IEND'), pngChunk('IDAT', TEXT)]
    const of = (...chunks: Buffer[]) => Buffer.concat([PNG_SIGNATURE, ...chunks])
    const wrong = png(1, 1)
    wrong[45]! ^= 1
    for (const bytes of [
      of(end),
      of(data, ihdr(1, 1), end),
      of(ihdr(1, 1), end),
      of(ihdr(1, 1), ihdr(1, 1), data, end),
      of(ihdr(1, 1), data, pngChunk('tEXt', TEXT), data, end),
      of(ihdr(1, 1, 3), data, end),
      of(ihdr(1, 1, 5), data, end),
      of(ihdr(1, 1), pngChunk('CRIT', TEXT), data, end),
      of(ihdr(1, 1), pngChunk('PLTE', Buffer.alloc(4)), data, end),
      of(ihdr(1, 1), pngChunk('te-t', TEXT), data, end),
      wrong,
    ])
      expect(problemOf(bytes)).toBe('broken')
  })

  it('that is a JPEG out of order, or of a sort that no browser shows', () => {
    const whole = jpeg(1, 1)
    const at = (marker: number) => whole.indexOf(Buffer.from([0xff, marker]))
    const frame = whole.subarray(at(0xc0), at(0xc4))
    const changed = (place: number, byte: number) => {
      const bytes = Buffer.from(whole)
      bytes[place] = byte
      return bytes
    }
    for (const bytes of [
      changed(at(0xc0) + 1, 0xc9),
      changed(at(0xc0) + 4, 12),
      changed(at(0xda) + 4, 2),
      jpeg(1, 1, [frame]),
      jpeg(1, 1, [segment(0xdc, Buffer.alloc(2))]),
      Buffer.concat([whole.subarray(0, at(0xda)), Buffer.from([0xff, 0xd9])]),
      Buffer.concat([whole.subarray(0, 20), TEXT, whole.subarray(20)]),
    ])
      expect(problemOf(bytes)).toBe('broken')
  })

  it('with more parts than are read, at once', () => {
    const started = performance.now()
    const scan = segment(0xda, Buffer.from([1, 1, 0, 0, 0x3f, 0]))
    const many = (part: Buffer, count = 2_000) => Buffer.concat(Array.from({ length: count }, () => part))
    for (const bytes of [
      png(1, 1, [many(pngChunk('tEXt'))]),
      jpeg(1, 1, [many(segment(0xfe, Buffer.alloc(0)))]),
      webp(vp8x(1, 1), many(webpChunk('junk', Buffer.alloc(0))), webpChunk('VP8L', LOSSLESS)),
      Buffer.concat([jpeg(1, 1).subarray(0, -2), many(scan, 101), Buffer.from([0xff, 0xd9])]),
    ])
      expect(problemOf(bytes)).toBe('broken')
    expect(problemOf(png(1, 1, [many(pngChunk('tEXt'), 1_990)]))).toBe('none')
    // Stuffed bytes, the slowest scan.
    const stuffed = Buffer.concat([
      jpeg(1, 1).subarray(0, -2),
      many(Buffer.from([0xff, 0]), 500_000),
      Buffer.from([0xff, 0xd9]),
    ])
    expect(problemOf(stuffed)).toBe('none')
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  it('or written whole, whatever its bytes are', { timeout: 30_000 }, () => {
    // Each byte of each picture changed in some ways: nothing but a refusal is thrown, and what is written is stable.
    for (const picture of Object.values(PICTURES))
      for (let place = 0; place < picture.length; place++)
        for (const byte of [0, 0xff, picture[place]! ^ 1]) {
          const bytes = Buffer.from(picture)
          bytes[place] = byte
          if (problemOf(bytes) === 'none') expect(stripped(stripped(bytes)).equals(stripped(bytes))).toBe(true)
        }
  })
})

/** The pixels of a lossless WebP, with another size in their header. */
function sized(width: number, height: number): Buffer {
  const bytes = Buffer.from(LOSSLESS)
  bytes.writeUInt32LE((((height - 1) << 14) | (width - 1)) >>> 0, 1)
  return bytes
}
