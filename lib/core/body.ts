/**
 * The chunks of a body as they arrive. Leaving early closes the connection, and so does `signal`, which then looks like the
 * end of the body.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array> | null,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (!body) return
  const reader = body.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  // By ourselves: `fetch` keeps the signal weakly, and forgets it with the request, while the body still comes.
  signal?.addEventListener('abort', cancel)
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    signal?.removeEventListener('abort', cancel)
    cancel()
  }
}

/** The text of a body in UTF-8 as it arrives. A character that is cut off by the end is left out. */
export async function* readText(body: ReadableStream<Uint8Array> | null, signal?: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const chunk of readChunks(body, signal)) yield decoder.decode(chunk, { stream: true })
}

/** A body up to `limit` bytes; `isWhole` is false when it has more, which are not read. */
export async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
  limit: number,
  signal?: AbortSignal,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; isWhole: boolean }> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of readChunks(body, signal)) {
    chunks.push(chunk)
    size += chunk.length
    if (size > limit) break
  }
  const bytes = new Uint8Array(Buffer.concat(chunks, Math.min(size, limit)))
  return { bytes, isWhole: size <= limit }
}
