/** One event of a stream, its data still text. */
export interface WireEvent {
  id?: string
  type: string
  data: string
}

/**
 * The events of a byte stream, as the event stream format has them
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream). An event cut off by the end
 * is none.
 *
 * @param onRetry hears how long to wait before coming back, in milliseconds
 */
export async function* readEvents(
  bytes: ReadableStream<Uint8Array>,
  onRetry: (ms: number) => void = () => {},
): AsyncGenerator<WireEvent> {
  const reader = bytes.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      const blocks = (rest + value).split(/\r?\n\r?\n/)
      rest = blocks.pop()!
      for (const block of blocks) {
        const event = parseBlock(block, onRetry)
        if (event) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** The pieces of an answer that streams, each parsed, up to its `[DONE]`. */
export async function* readPieces(bytes: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  for await (const { data } of readEvents(bytes)) {
    if (data === '[DONE]') return
    yield JSON.parse(data)
  }
}

function parseBlock(block: string, onRetry: (ms: number) => void): WireEvent | undefined {
  const event: WireEvent = { type: 'message', data: '' }
  const data: string[] = []
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!
    if (field === 'data') data.push(value)
    else if (field === 'event') event.type = value
    else if (field === 'id') event.id = value
    else if (field === 'retry' && /^\d+$/.test(value)) onRetry(Number(value))
  }
  return data.length > 0 ? { ...event, data: data.join('\n') } : undefined
}
