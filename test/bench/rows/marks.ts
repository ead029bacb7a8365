import { setTimeout as delay } from 'node:timers/promises'
import { apiGroupOf } from '../../../lib/http/api-groups.ts'
import { allRoutes } from '../../support/all-routes.ts'
import { inputWith, textsOf } from '../../support/texts.ts'
import type { Round, Row } from '../row.ts'
import { type Service, startService } from '../servers/service.ts'

/**
 * Combining marks, each of a lower class than the one before: Unicode normalisation moves every one of them past all
 * others of its run, so it takes the square of the length.
 */
const MARKS = '\u0345\u035c\u0315\u0301\u0316\u0327\u05b0'

/** As many bytes of letters, which no normalisation moves. */
const LETTERS = 'abcdefghijklmn'

/** What of a body is not the text. */
const ENVELOPE_BYTES = 1_000

/** The pause between two probes. */
const PROBE_MS = 2

/** How long /healthz takes at most while every text of every body is as long as the body may be, and of the worst kind. */
export const marks = rowOf('marks', 'combining marks', MARKS)

/** The same with letters: what it costs to read, decode and refuse such bodies. */
export const marksControl = rowOf('marks-control', 'letters', LETTERS)

function rowOf(name: string, kind: string, run: string): Row {
  return {
    name,
    title: `slowest GET /healthz while each text in turn is ${kind} as long as the body may be`,
    unit: 'ms',
    better: 'lower',
    reach: 100,
    beyond: 50,
    measure: async ({ command }) => {
      const service = await startService(command)
      try {
        const bodies = bodiesOf(run)
        const rounds: Round[] = []
        // The first one, in which the service compiles what it runs, is not counted.
        for (let round = 0; round < 3; round++) rounds.push({ service: await slowestProbe(service, bodies) })
        return rounds.slice(1)
      } finally {
        await service.stop()
      }
    },
  }
}

interface LongBody {
  method: string
  path: string
  body: Uint8Array<ArrayBuffer>
}

/** For each text of each body a request in which it is as long as the body may be. */
function bodiesOf(run: string): LongBody[] {
  return allRoutes.flatMap(([, { method, path, body }]) => {
    const bytes = apiGroupOf(path).body.bytes - ENVELOPE_BYTES
    const text = run.repeat(Math.floor(bytes / Buffer.byteLength(run)))
    const target = path.replace(/\{\w+\}/g, '01890000-0000-7000-8000-000000000000')
    return (body ? textsOf(body) : []).map((field) => ({
      method,
      path: target,
      body: new TextEncoder().encode(JSON.stringify(inputWith(field.path, text))),
    }))
  })
}

async function slowestProbe({ port, headers }: Service, bodies: LongBody[]): Promise<number> {
  const base = `http://127.0.0.1:${port}`
  const sending = (async () => {
    for (const { method, path, body } of bodies) {
      const response = await fetch(base + path, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      })
      await response.arrayBuffer()
      if (response.status < 400 || response.status >= 500)
        throw new Error(`${method} ${path} answered a text of ${body.length} bytes with ${response.status}`)
    }
  })()
  let isOver = false
  sending.then(
    () => (isOver = true),
    () => (isOver = true),
  )
  let slowest = 0
  while (!isOver) {
    const sent = performance.now()
    const response = await fetch(`${base}/healthz`)
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`/healthz answered ${response.status}`)
    slowest = Math.max(slowest, performance.now() - sent)
    await delay(PROBE_MS)
  }
  await sending
  return slowest
}
