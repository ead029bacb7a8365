import { clientOf, until } from '../load/answers.ts'
import { createFailure } from '../load/failure.ts'
import { httpRequest } from '../load/http.ts'
import { marker } from '../load/marker.ts'
import { cpuMicros, measure } from '../load/measure.ts'
import { openReaders, type Reader, type Step } from '../load/reader.ts'
import { connectionsMissing, processFiguresMissing, residentBytes } from '../machine.ts'
import { type Bench, interleaveWarm, oncePerBench, type Row, roundsOf } from '../row.ts'
import { startModel } from '../servers/peers.ts'
import { type Service, serviceTarget, startService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'
import { assistantAt } from './answers.ts'

const READERS = 1_000

/** Opened before the first look, so that what any stream needs is not charged to the others. */
const WARM_UP_READERS = 100

interface Reading {
  /** Of the service, in microseconds per token, which all readers get. */
  cpu: number
  /** Resident memory per reader, in KiB. */
  memory: number
}

/** Readers of one answer by the stream of `useChat`, against as many readers of the conversation. */
const compare = oncePerBench(({ rounds, seconds, command }: Bench) => {
  const model = startModel()
  const answering = model.then(({ port }) =>
    startService(command, { ...assistantAt(port), CHAT_FEATURES__UI_STREAM: 'true' }),
  )
  return withServers(answering, model, (service) =>
    interleaveWarm(
      rounds,
      () => readAnswer(service, seconds, (id) => doorSteps(service, id)),
      () => readAnswer(service, seconds, () => serviceTarget(service).steps),
    ),
  )
})

function doorSteps({ headers }: Service, messageId: string): Step[] {
  const send = httpRequest('GET', `/api/messages/${messageId}/ui-stream`, { headers })
  return [{ send, until: '"type":"start"' }]
}

/** Has an answer written to readers, then stops it. @throws Error unless each of them got each token from its first one to the end */
async function readAnswer(service: Service, seconds: number, stepsOf: (id: string) => Step[]): Promise<Reading> {
  const client = clientOf(service, service.headers)
  const { message_id } = await client.messages.postRoot(service.conversationId, { content: 'Go on', role: 'assistant' })
  const { fail, or } = createFailure()
  const readers: Reader[] = []
  let isEnding = false
  const take = (reader: Reader, seq: number) => {
    if (reader.position > 0 && reader.position !== seq)
      fail(new Error(`token ${seq} came in place of ${reader.position}`))
    reader.position = seq + 1
  }
  // The door ends its streams with the answer.
  const lost = (error: Error) => void (isEnding || fail(error))
  const open = async (count: number) => {
    readers.push(...(await or(openReaders(service.port, stepsOf(message_id), count, { marker: take, lost }))))
    return residentBytes(service.pid)
  }
  const least = () => Math.min(...readers.map(({ position }) => position))
  try {
    const before = await open(WARM_UP_READERS)
    const memory = ((await open(READERS)) - before) / READERS / 1024
    const cpu = cpuMicros(await or(measure(service.pid, seconds, least)))
    isEnding = true
    await client.answers.cancel(message_id)
    const { content } = await client.messages.get(message_id)
    const tokens = content.length / marker(0).length
    await or(until(() => least() === tokens))
    return { cpu, memory }
  } finally {
    for (const { socket } of readers) socket.destroy()
  }
}

const row = (name: string, title: string, unit: string, figure: (reading: Reading) => number): Row => ({
  name: `answer-readers${name}`,
  title,
  unit,
  peer: 'as many streams of the conversation',
  better: 'lower',
  reach: 1.5,
  beyond: 1.2,
  unavailable: () => processFiguresMissing() ?? connectionsMissing(READERS + WARM_UP_READERS),
  measure: async (bench) => roundsOf(await compare(bench), figure),
})

export const answerReaders: Row[] = [
  row(
    '',
    `CPU of each token of an answer that ${READERS} readers get by the stream of \`useChat\``,
    'µs',
    ({ cpu }) => cpu,
  ),
  row('-memory', 'resident memory of each of them', 'KiB', ({ memory }) => memory),
]
