import { checkAnswer } from '../../support/answers.ts'
import type { startService } from '../../support/service.ts'

/** What a call returned. */
export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: what the tests read of many shapes.
  body: any
}

/** What a call sends beside its line. */
export interface Sent {
  act_as?: string | undefined
  body?: object
  headers?: Record<string, string>
}

/** Calls with a bearer, by a line such as `GET /api/auth/me`. */
export async function callWith(
  { base_url }: Pick<Awaited<ReturnType<typeof startService>>, 'base_url'>,
  bearer: string,
  line: string,
  { act_as, body, headers }: Sent = {},
): Promise<Answer> {
  // On SQLite the reads of a turn of the event loop see one state.
  await new Promise<void>((resolve) => setImmediate(resolve))
  const [method, path] = line.split(' ') as [string, string]
  const response = await fetch(base_url + path, {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(act_as !== undefined && { 'chat-act-as': act_as }),
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  await checkAnswer(method, path, response.clone())
  const text = await response.text()
  return { status: response.status, body: text ? JSON.parse(text) : undefined }
}

/** The parts of a refusal that callers decide by. */
export function refusalOf({ status, body }: Answer): unknown[] {
  return [status, body.code, body.reason]
}
