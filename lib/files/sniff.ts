import { FILE_TYPES, type FileType } from '../core/file-types.ts'

/** How many of the first bytes are enough to find the type. */
export const SNIFFED_BYTES = 4096

/**
 * The type of a file by its first bytes, whatever its name and its sender claim. A file of several types at once is
 * served as the one found: its kind of content decides what a browser may do with it.
 *
 * @param first its first {@link SNIFFED_BYTES} bytes, or all it has
 */
export function sniff(first: Uint8Array): FileType {
  const bytes = Buffer.from(first.buffer, first.byteOffset, Math.min(first.length, SNIFFED_BYTES))
  return DETECTORS.find(([, detects]) => detects(bytes))?.[0] ?? 'application/octet-stream'
}

/** Whether a browser may show a file of this type in a page: raster pictures, audio and video. */
export function isInlineType(type: string): boolean {
  return type !== 'image/svg+xml' && /^(image|audio|video)\//.test(type) && FILE_TYPES.includes(type as FileType)
}

const startsWith = (bytes: Buffer, text: string, at = 0) =>
  bytes.length >= at + text.length && bytes.toString('latin1', at, at + text.length) === text

const DETECTORS: [FileType, (bytes: Buffer) => boolean][] = [
  ['image/png', (bytes) => startsWith(bytes, '\x89PNG\r\n\x1A\n')],
  ['image/jpeg', (bytes) => startsWith(bytes, '\xFF\xD8\xFF')],
  ['image/gif', (bytes) => startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a')],
  ['image/webp', (bytes) => startsWith(bytes, 'RIFF') && startsWith(bytes, 'WEBP', 8)],
  ['audio/wav', (bytes) => startsWith(bytes, 'RIFF') && startsWith(bytes, 'WAVE', 8)],
  ['image/avif', (bytes) => brandsOf(bytes).some((brand) => AVIF.includes(brand))],
  ['audio/mp4', (bytes) => AUDIO_MP4.includes(brandsOf(bytes)[0] ?? '')],
  ['video/mp4', (bytes) => isMp4(brandsOf(bytes))],
  ['video/webm', isWebm],
  ['video/ogg', isOggVideo],
  ['audio/ogg', (bytes) => startsWith(bytes, 'OggS\0')],
  ['audio/flac', (bytes) => startsWith(bytes, 'fLaC')],
  ['application/pdf', (bytes) => startsWith(bytes, '%PDF-')],
  ['audio/mpeg', isMp3],
]

const AVIF = ['avif', 'avis']

/** The brands of music and audiobooks, `.m4a` and `.m4b`: their compatible brands may be those of films. */
const AUDIO_MP4 = ['M4A ', 'M4B ']

/** Pictures in the same container (HEIF), which few browsers show, and QuickTime. */
const NOT_MP4 = /^(heic|heix|hevc|hevx|heim|heis|mif1|mif2|msf1|jpeg|qt {2})$/

/** The brands of MP4 (mp4ra.org/registered-types/brands), with those of recorders and of M4V. */
const MP4 = /^(isom|iso[2-9]|mp41|mp42|mp71|avc1|dash|cmfc|cmfs|M4A |M4B |M4V |M4VH|M4VP|f4v |mmp4|MSNV|NDSC|XAVC)$/

function isMp4(brands: string[]): boolean {
  const [major, ...compatible] = brands
  if (major === undefined || NOT_MP4.test(major)) return false
  return MP4.test(major) || compatible.some((brand) => MP4.test(brand))
}

/** The major brand of an ISO base media file, and the compatible ones (ISO/IEC 14496-12, section 4.3). */
function brandsOf(bytes: Buffer): string[] {
  if (!startsWith(bytes, 'ftyp', 4)) return []
  const end = Math.min(bytes.readUInt32BE(0), bytes.length, 512)
  const brands = end >= 12 ? [bytes.toString('latin1', 8, 12)] : []
  for (let at = 16; at + 4 <= end; at += 4) brands.push(bytes.toString('latin1', at, at + 4))
  return brands
}

/** A header of EBML whose document type is `webm`; a Matroska file differs in nothing else (RFC 8794, section 11.2). */
function isWebm(bytes: Buffer): boolean {
  if (!startsWith(bytes, '\x1A\x45\xDF\xA3')) return false
  const at = bytes.subarray(0, 128).indexOf('\x42\x82', 4, 'latin1') + 2
  if (at < 6) return false
  // A length may be padded to up to 8 bytes; the position of its first bit is their number.
  const width = Math.clz32(bytes[at] ?? 0) - 23
  if (width > 8 || bytes.length < at + width) return false
  const length = bytes[at + width - 1]! & (width === 1 ? 0x7f : 0xff)
  const type = bytes.toString('latin1', at + width, Math.min(at + width + length, bytes.length))
  return type.replace(/\0+$/, '') === 'webm'
}

/** The streams of Ogg that are pictures: each begins with its name, in a page of its own at the start of the file. */
const OGG_VIDEO = ['\x80theora', 'OVP80', 'BBCD\0', '\x01video\0']

/** A film of Ogg, `.ogv` (RFC 3533, sections 4 and 6): one of the first pages of its streams is of pictures. */
function isOggVideo(bytes: Buffer): boolean {
  for (let at = 0; startsWith(bytes, 'OggS\0', at) && at + 27 < bytes.length && (bytes[at + 5]! & 2) === 2; ) {
    const segments = bytes.subarray(at + 27, at + 27 + bytes[at + 26]!)
    const content = at + 27 + segments.length
    if (OGG_VIDEO.some((name) => startsWith(bytes, name, content))) return true
    at = content + segments.reduce((sum, length) => sum + length, 0)
  }
  return false
}

/** An ID3 tag, or a frame of layer III that is followed by another one, if enough bytes are given. */
function isMp3(bytes: Buffer): boolean {
  if (startsWith(bytes, 'ID3'))
    return (
      bytes.length >= 10 && bytes[3]! < 0xff && bytes[4]! < 0xff && bytes.subarray(6, 10).every((byte) => byte < 0x80)
    )
  const length = frameLength(bytes, 0)
  return length > 0 && (bytes.length < length + 4 || frameLength(bytes, length) > 0)
}

/** Kilobits per second of layer III, of MPEG 1 and of MPEG 2 and 2.5 (ISO/IEC 11172-3, section 2.4.2.3). */
const KBITS = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
]

const HERTZ: Record<number, number[]> = {
  3: [44_100, 48_000, 32_000],
  2: [22_050, 24_000, 16_000],
  0: [11_025, 12_000, 8000],
}

/** The length of the frame of MPEG layer III at a place; 0 if there is none. */
function frameLength(bytes: Buffer, at: number): number {
  if (bytes.length < at + 4) return 0
  const [first, second, third] = [bytes[at]!, bytes[at + 1]!, bytes[at + 2]!]
  if (first !== 0xff || (second & 0xe6) !== 0xe2) return 0
  const version = (second >> 3) & 3
  const kbits = KBITS[version === 3 ? 0 : 1]![third >> 4]
  const hertz = HERTZ[version]?.[(third >> 2) & 3]
  if (!kbits || !hertz) return 0
  return Math.floor(((version === 3 ? 144_000 : 72_000) * kbits) / hertz) + ((third >> 1) & 1)
}
