import { describe, expect, it } from 'vitest'
import { askedAssistant, usualAssistant } from '../../../examples/web-chat/src/compose/asked-assistant.ts'
import type { StoreMessage } from '../../../lib/client/store/index.ts'

const helper = { key: 'assistant', title: 'Helper', default: true as const }
const coder = { key: 'coder', title: 'Coder' }

describe('the assistant that is asked', () => {
  it.each([
    ['the chosen one', [coder, helper], ['coder', 'assistant'], coder],
    ['the usual one, where none is chosen', [helper, coder], [undefined, 'coder'], coder],
    ['the usual one, where the chosen one may not be asked', [helper, coder], ['other', 'coder'], coder],
    ['the default, where neither may be asked', [coder, helper], ['other', 'another'], helper],
    ['the first one, where the default may not be asked', [coder], [undefined, 'assistant'], coder],
    ['none, where none may be asked', [], ['coder'], undefined],
  ])('is %s', (_, offered, wanted, asked) => {
    expect(askedAssistant(offered, ...wanted)).toBe(asked)
  })

  it('is usually that of the last answer, else that of the conversation', () => {
    const conversation = { assistant: { key: 'coder' } }
    const message = (fields: object) => ({ role: 'user', ...fields }) as StoreMessage
    const answer = message({ role: 'assistant', assistant: 'helper' })
    const deleted = message({ role: 'assistant', assistant: 'other', deleted_at: '2026-01-01T00:00:00.000Z' })
    expect(usualAssistant(conversation, [answer, deleted, message({})])).toBe('helper')
    expect(usualAssistant(conversation, [message({})])).toBe('coder')
    expect(usualAssistant(conversation)).toBe('coder')
    expect(usualAssistant({})).toBeUndefined()
  })
})
