import { beforeAll, expect, it } from 'vitest'
import { parseConfig } from '../../lib/config/parse.ts'
import { openApiDocument } from '../../lib/http/openapi/build.ts'
import { setUpService } from '../support/describe-service.ts'
import { type Person, startService } from '../support/service.ts'

type Schema = Record<string, unknown>

const { schemas } = openApiDocument(parseConfig()).components as unknown as { schemas: Record<string, Schema> }
const FILE = '01890000-0000-7000-8000-000000000000'

const service = setUpService(() => startService('sqlite::memory:'))
let ada: Person
let conversation_id: string

beforeAll(async () => {
  ada = await service.signIn('ada')
  conversation_id = (await ada.conversations.create()).conversation_id
})

/** Whether a call is refused for its input alone. */
const refuses = (call: Promise<unknown>) =>
  call.then(
    () => false,
    ({ code }: { code?: string }) => code === 'validation_failed',
  )

const BODIES = ['', 'Hello'].flatMap((content) =>
  [undefined, [], [FILE]].flatMap((attachment_ids) =>
    ([undefined, 'user', 'assistant'] as const).map((role) => ({
      content,
      ...(attachment_ids && { attachment_ids }),
      ...(role && { role }),
    })),
  ),
)

it.each(BODIES)('a post is described as it is refused, whatever files it has: %j', async (body) => {
  // The file is unknown, which is a reason of state.
  const isRefused = await refuses(ada.messages.postRoot(conversation_id, body))
  expect(!follows(schemas.MessageInput!, body)).toBe(isRefused)
})

it.each(BODIES.filter(({ role }) => !role))('an edit is described as it is refused: %j', async (body) => {
  const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'Hello' })
  const isRefused = await refuses(ada.messages.edit(message_id, body))
  // Without a list, the files that the message has count: again a reason of state.
  const isOfState = body.content === '' && !body.attachment_ids
  expect(!follows(schemas.Edit!, body)).toBe(isRefused && !isOfState)
})

/** Whether a value follows the conditions of a schema: in the few words that they have. */
function follows(schema: Schema | undefined = {}, value: unknown): boolean {
  return Object.entries(schema).every(([word, said]) => {
    switch (word) {
      case 'if':
        return follows((follows(said as Schema, value) ? schema.then : schema.else) as Schema | undefined, value)
      case 'anyOf':
        return (said as Schema[]).some((each) => follows(each, value))
      case 'required':
        return (said as string[]).every((name) => Object.hasOwn(value as object, name))
      case 'properties':
        return Object.entries(value as object).every(([name, each]) => follows((said as Schema)[name] as Schema, each))
      case 'enum':
        return (said as unknown[]).includes(value)
      case 'minLength':
      case 'minItems':
        return (value as string | unknown[]).length >= (said as number)
      case 'maxItems':
        return (value as unknown[]).length <= (said as number)
      default:
        return true
    }
  })
}
