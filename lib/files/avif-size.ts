/** More boxes than any picture has: a file of empty ones is not walked to its end. */
const MAX_BOXES = 1_000

/** A box of an ISO base media file (ISO/IEC 14496-12, section 4.2): where its content is. */
interface Box {
  type: string
  start: number
  end: number
}

/** The boxes of a range, in their order, up to the first that is broken or cut. */
function boxesIn(bytes: Buffer, { start, end }: Pick<Box, 'start' | 'end'>): Box[] {
  const boxes: Box[] = []
  for (let at = start; at + 8 <= end && boxes.length < MAX_BOXES; ) {
    const size = bytes.readUInt32BE(at) || end - at
    if (size < 8 || at + size > end) break
    boxes.push({ type: bytes.toString('latin1', at + 4, at + 8), start: at + 8, end: at + size })
    at += size
  }
  return boxes
}

/**
 * The size of an AVIF in the direction in which it is shown: the `ispe` of its primary item, turned by its `irot`
 * (ISO/IEC 23008-12, sections 6.5.3 and 6.5.10). `undefined` unless all of these exist.
 */
export function sizeOfAvif(bytes: Buffer): [width: number, height: number] | undefined {
  const find = (boxes: readonly Box[], type: string) => boxes.find((box) => box.type === type)
  const meta = find(boxesIn(bytes, { start: 0, end: bytes.length }), 'meta')
  // A version and flags precede the boxes in it.
  const inMeta = meta ? boxesIn(bytes, { start: meta.start + 4, end: meta.end }) : []
  const [primary, described] = [find(inMeta, 'pitm'), find(inMeta, 'iprp')]
  const inProperties = described ? boxesIn(bytes, described) : []
  const [container, associations] = [find(inProperties, 'ipco'), find(inProperties, 'ipma')]
  if (!primary || !container || !associations) return undefined
  const properties = boxesIn(bytes, container)
  const own = associationsOf(bytes, associations, primaryItem(bytes, primary)).map((index) => properties[index - 1])
  const size = own.find((box) => box?.type === 'ispe' && box.end - box.start >= 12)
  if (!size) return undefined
  const [width, height] = [bytes.readUInt32BE(size.start + 4), bytes.readUInt32BE(size.start + 8)]
  const turn = own.find((box) => box?.type === 'irot' && box.end > box.start)
  return turn && (bytes[turn.start]! & 1) === 1 ? [height, width] : [width, height]
}

/** The id of the item that is shown. */
function primaryItem(bytes: Buffer, { start, end }: Box): number | undefined {
  if (end - start < 6) return undefined
  if (bytes[start] === 0) return bytes.readUInt16BE(start + 4)
  return end - start < 8 ? undefined : bytes.readUInt32BE(start + 4)
}

/** The numbers of the properties of an item, from 1. */
function associationsOf(bytes: Buffer, { start, end }: Box, item: number | undefined): number[] {
  if (item === undefined || end - start < 8) return []
  const idBytes = bytes[start] === 0 ? 2 : 4
  const width = (bytes[start + 3]! & 1) === 1 ? 2 : 1
  for (let at = start + 8, entry = 0; at + idBytes < end && entry < MAX_BOXES; entry++) {
    const id = bytes.readUIntBE(at, idBytes)
    const count = bytes[at + idBytes]!
    const first = at + idBytes + 1
    at = first + count * width
    if (at > end) return []
    // The first bit is set if the property is essential.
    const numberAt = (n: number) => bytes.readUIntBE(first + n * width, width) & (width === 1 ? 0x7f : 0x7fff)
    if (id === item) return Array.from({ length: count }, (_, n) => numberAt(n))
  }
  return []
}
