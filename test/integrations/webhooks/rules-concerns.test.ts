import { expect, it } from 'vitest'
import type { FeedEvent } from '../../../lib/chat/feed/schema.ts'
import { isSent } from '../../../lib/integrations/webhooks/rules-concerns.ts'

const NOTHING = { authors: new Map(), direct: new Set<string>() }

it.each(['message.new', 'message.edited', 'message.done'])(
  '%s of the owner and, unless wanted, of bots is left out',
  (type) => {
    const isSentOf = (message: object | undefined, bots: boolean) =>
      isSent({ type, data: { message } } as FeedEvent, { user_id: 'ada', bots, only_notified: false }, NOTHING)
    expect(isSentOf({ author_user_id: 'ada', author_kind: 'bot' }, true)).toBe(false)
    expect(isSentOf({ author_user_id: 'other', author_kind: 'bot' }, true)).toBe(true)
    expect(isSentOf({ author_user_id: 'other', author_kind: 'bot' }, false)).toBe(false)
    expect(isSentOf({ author_kind: 'assistant' }, false)).toBe(true)
  },
)

it('an answer that is gone is sent without its message', () => {
  const event = { type: 'message.done', data: { message_id: 'm' } } as FeedEvent
  expect(isSent(event, { user_id: 'ada', bots: false, only_notified: false }, NOTHING)).toBe(true)
})
