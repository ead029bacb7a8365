import { expect, it } from 'vitest'
import type { ChatError } from '../../../lib/core/errors.ts'
import { parseInput } from '../../../lib/core/use-case.ts'
import { readWish } from '../../../lib/protocols/ui-stream/rules-input.ts'
import { UiChatRequest } from '../../../lib/protocols/ui-stream/schema.ts'

const HERE = { path: '/api/attachments/', hosts: [] }

function problemOf(message: object): unknown {
  try {
    return readWish(parseInput(UiChatRequest, { id: 'trip', messages: [message] }), HERE)
  } catch (error) {
    return (error as ChatError).errors
  }
}

it('says that a question has parts, where a client sends its text as `content`', () => {
  const message = 'must end with a message that has `parts`: [{ "type": "text", "text": "…" }]'
  expect(problemOf({ role: 'user', content: 'Why?' })).toEqual([{ path: 'messages', message }])
  expect(problemOf({ role: 'user', parts: [{ type: 'text', text: 'Why?' }] })).toMatchObject({ content: 'Why?' })
})
