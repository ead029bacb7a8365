import { exifWith, findOrientation } from '../exif.ts'
import { assertSides, assertWhole, MAX_PARTS, PictureError } from './picture-error.ts'

/** Markers (ITU T.81, table B.1). */
const START = 0xd8
const END = 0xd9
const SCAN = 0xda
const EXIF_SEGMENT = 0xe1
const COMMENT = 0xfe
/** Baseline, extended sequential, progressive: what browsers show. */
const FRAMES = [0xc0, 0xc1, 0xc2]
/** Huffman tables, quantization tables, restart interval. */
const TABLES = [0xc4, 0xdb, 0xdd]

/** A decoder reads the whole picture for each scan of a progressive one: more than a few dozen are made to take long. */
const MAX_SCANS = 100

/** A segment. */
interface Segment {
  marker: number
  /** Without its marker and its length. */
  content: Buffer
  whole: Buffer
  /** Where it ends. */
  end: number
}

/** @throws PictureError */
export function stripJpeg(bytes: Buffer): Buffer {
  const kept: Buffer[] = []
  let orientation: number | undefined
  let components = 0
  let scans = 0
  let at = 2
  for (let count = 0; ; count++) {
    assertWhole(count < MAX_PARTS)
    const segment = readSegment(bytes, at)
    at = segment.end
    const { marker, content } = segment
    if (marker === END) break
    if (marker === EXIF_SEGMENT) orientation ??= findOrientation(content)
    else if (isOfApplication(marker)) kept.push(...toKept(segment))
    else if (TABLES.includes(marker)) kept.push(segment.whole)
    else if (FRAMES.includes(marker)) {
      assertWhole(components === 0)
      components = readFrame(content)
      kept.push(segment.whole)
    } else {
      assertWhole(marker === SCAN && scans++ < MAX_SCANS)
      assertScan(content, components)
      at = endOfScan(bytes, segment.end)
      kept.push(segment.whole, bytes.subarray(segment.end, at))
    }
  }
  assertWhole(scans > 0)
  const exif = orientation === undefined ? [] : [toBytes(EXIF_SEGMENT, exifWith(orientation))]
  return Buffer.concat([Buffer.from([0xff, START]), ...exif, ...kept, Buffer.from([0xff, END])])
}

/** The segment at a place, after fill bytes. @throws PictureError if it is cut, or something else is there */
function readSegment(bytes: Buffer, from: number): Segment {
  let at = from
  assertWhole(bytes[at] === 0xff)
  while (bytes[at + 1] === 0xff) at++
  const marker = bytes[at + 1]
  assertWhole(marker !== undefined)
  if (marker === END) return { marker, content: bytes.subarray(0, 0), whole: bytes.subarray(at, at + 2), end: at + 2 }
  assertWhole(bytes.length - at >= 4)
  const length = bytes.readUInt16BE(at + 2)
  const end = at + 2 + length
  assertWhole(length >= 2 && end <= bytes.length)
  return { marker, content: bytes.subarray(at + 4, end), whole: bytes.subarray(at, end), end }
}

function isOfApplication(marker: number): boolean {
  return (marker >= 0xe0 && marker <= 0xef) || marker === COMMENT
}

/** What stays of applications' segments: the density, the color profile, and the color transform. */
function toKept({ marker, content, whole }: Segment): Buffer[] {
  const hasName = (name: string) => content.toString('latin1', 0, name.length) === name
  if (marker === 0xe2 && hasName('ICC_PROFILE\0')) return [whole]
  if (marker === 0xee && hasName('Adobe') && content.length >= 12) return [toBytes(marker, content.subarray(0, 12))]
  if (marker !== 0xe0 || !hasName('JFIF\0') || content.length < 14) return []
  const withoutThumbnail = Buffer.from(content.subarray(0, 14))
  withoutThumbnail.fill(0, 12)
  return [toBytes(marker, withoutThumbnail)]
}

/** @returns the number of components @throws PictureError */
function readFrame(content: Buffer): number {
  assertWhole(content.length >= 6 && content[0] === 8)
  assertSides(content.readUInt16BE(1), content.readUInt16BE(3))
  const components = content[5]!
  assertWhole([1, 3, 4].includes(components) && content.length === 6 + 3 * components)
  return components
}

/** @throws PictureError for a scan of other components than the frame has, or before that */
function assertScan(content: Buffer, components: number): void {
  const scanned = content[0] ?? 0
  assertWhole(scanned >= 1 && scanned <= components && content.length === 4 + 2 * scanned)
}

/** Where the marker after a scan is: not a restart, and no stuffed byte. @throws PictureError without one */
function endOfScan(bytes: Buffer, from: number): number {
  // A loop, as a scan may consist of stuffed bytes: half a million calls to find each would take 50 ms.
  for (let at = from; at + 1 < bytes.length; at++) {
    if (bytes[at] !== 0xff) continue
    const next = bytes[at + 1]!
    const isRestart = next >= 0xd0 && next <= 0xd7
    if (next === 0 || isRestart) at++
    else if (next !== 0xff) return at
  }
  throw new PictureError('broken')
}

function toBytes(marker: number, content: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([head, content])
}
