/** Reads bytes in their order from pieces; `undefined` at the end. */
function createCursor(pieces: AsyncIterator<Uint8Array>) {
  let piece: Uint8Array = new Uint8Array()
  let at = 0

  async function skip(count: number): Promise<void> {
    at += count
    while (at >= piece.length) {
      at -= piece.length
      const next = await pieces.next()
      if (next.done) {
        piece = new Uint8Array()
        return
      }
      piece = next.value
    }
  }

  return {
    skip,
    async byte(): Promise<number | undefined> {
      if (at >= piece.length) await skip(0)
      return piece[at++]
    },
  }
}

type Cursor = ReturnType<typeof createCursor>

async function short(cursor: Cursor): Promise<number> {
  const low = (await cursor.byte()) ?? 0
  return low + ((await cursor.byte()) ?? 0) * 256
}

/** Passes over data in sub-blocks, to the empty one at their end. */
async function skipBlocks(cursor: Cursor): Promise<void> {
  for (let size = await cursor.byte(); size; size = await cursor.byte()) await cursor.skip(size)
}

/** Passes over a table of colors, if the flags announce one. */
async function skipColors(cursor: Cursor, flags: number): Promise<void> {
  if (flags & 0x80) await cursor.skip(3 * 2 ** ((flags & 7) + 1))
}

/**
 * The number of pixels of the largest frame of a GIF, and of its screen: a frame may be larger than the screen that the
 * header tells, and a decoder has it in memory (GIF89a, section 20). Nothing is decoded; a broken file ends it.
 *
 * @param enough reads no further once a frame has more pixels
 */
export async function largestFrame(pieces: AsyncIterable<Uint8Array>, enough: number): Promise<number> {
  const iterator = pieces[Symbol.asyncIterator]()
  const cursor = createCursor(iterator)
  try {
    await cursor.skip(6)
    let largest = (await short(cursor)) * (await short(cursor))
    const flags = (await cursor.byte()) ?? 0
    await cursor.skip(2)
    await skipColors(cursor, flags)
    while (largest <= enough) {
      const kind = await cursor.byte()
      if (kind === 0x21) await cursor.skip(1)
      else if (kind === 0x2c) largest = Math.max(largest, await frame(cursor))
      else break
      await skipBlocks(cursor)
    }
    return largest
  } finally {
    await iterator.return?.()
  }
}

/** The pixels of a frame, up to its data. */
async function frame(cursor: Cursor): Promise<number> {
  await cursor.skip(4)
  const pixels = (await short(cursor)) * (await short(cursor))
  await skipColors(cursor, (await cursor.byte()) ?? 0)
  await cursor.skip(1)
  return pixels
}
