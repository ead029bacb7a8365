import { expect, it } from 'vitest'
import { usersIn, withUsers } from '../../../lib/storage/archive/conversation-rows.ts'

it('replaces the users in the origins of mentions, and no name that looks like an id', () => {
  const [ada, grace] = ['01980a3c-6f00-7a10-8b20-0c4f1d2e3a42', '01980a3c-6f01-7a10-8b20-0c4f1d2e3a42']
  const origins = { names: { ada, [grace]: grace, 'quo"te': ada }, user_ids: [grace, ada], edited_at: 5 }
  const row = { mention_origins: JSON.stringify(origins) }
  expect(usersIn('messages', row).sort()).toEqual([ada, ada, ada, grace, grace].sort())
  const mapped = withUsers('messages', row, (id) => (id === ada ? 'new' : undefined))
  expect(JSON.parse(String(mapped.mention_origins))).toEqual({
    names: { ada: 'new', [grace]: '', 'quo"te': 'new' },
    user_ids: ['', 'new'],
    edited_at: 5,
  })
})
