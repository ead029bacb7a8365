import { expect, it } from 'vitest'
import type { Message } from '../../../lib/client/index.ts'
import { foldThread, type ThreadData } from '../../../lib/client/store/fold-thread.ts'
import type { ConversationStreamEvent } from '../../../lib/client/types.ts'
import { times } from '../../support/service.ts'

const ROOT: Message = {
  id: 'root',
  conversation_id: 'engines',
  root_id: 'root',
  role: 'user',
  content: 'first',
  path: '10',
  depth: 0,
  status: 'complete',
  created_at: '2026-11-20T10:00:00.000000Z',
}

/** A reaction of so many users that the reader is not among those who are named. */
const CROWD = [{ emoji: '👍', count: 12, user_ids: times(10, (n) => `user${n}`) }]

const fold = (messages: Message[], ...events: ConversationStreamEvent[]) =>
  events.reduce<ThreadData | 'stale'>(
    (data, event) => (data === 'stale' ? data : foldThread(data, 'root', event, 'me')),
    { messages, detached: [], chunks: new Map() },
  )

const changed = (user_id: string, action: 'added' | 'removed', reactions = CROWD): ConversationStreamEvent => ({
  type: 'reactions.changed',
  payload: { message_id: 'root', root_id: 'root', conversation_id: 'engines', user_id, emoji: '👍', action, reactions },
})
const about = (type: 'message.edited' | 'message.deleted' | 'message.restored', message: Message) =>
  ({ type, payload: { message } }) as ConversationStreamEvent
const reactedIn = (data: ThreadData | 'stale') => (data === 'stale' ? data : data.messages[0]!.reacted)

it('knows the own reaction from its event where the message does not name the user', () => {
  expect(reactedIn(fold([ROOT], changed('me', 'added')))).toEqual(['👍'])
  expect(reactedIn(fold([ROOT], changed('me', 'added'), changed('user3', 'removed')))).toEqual(['👍'])
  expect(reactedIn(fold([ROOT], changed('me', 'added'), changed('me', 'removed')))).toBeUndefined()
  expect(reactedIn(fold([ROOT], changed('user3', 'added')))).toBeUndefined()
})

it('keeps the own reaction through an edit, which does not have it', () => {
  const read = { ...ROOT, reactions: CROWD, reacted: ['👍'] }
  expect(reactedIn(fold([read], about('message.edited', { ...ROOT, content: 'new', reactions: CROWD })))).toEqual([
    '👍',
  ])
  expect(reactedIn(fold([read], about('message.edited', { ...ROOT, content: 'new' })))).toBeUndefined()
})

it('reads a restored message again if it may have a reaction of the user', () => {
  const deleted: Message = { ...ROOT, content: '', deleted_at: ROOT.created_at }
  expect(
    fold([ROOT], about('message.deleted', deleted), about('message.restored', { ...ROOT, reactions: CROWD })),
  ).toBe('stale')
  const named = { ...ROOT, reactions: [{ emoji: '❤', count: 1, user_ids: ['me'] }] }
  expect(reactedIn(fold([deleted], about('message.restored', named)))).toEqual(['❤'])
})
