import { expect, it } from 'vitest'
import { planChange } from '../../../lib/accounts/administration/rules.ts'

const before = {
  ...{ id: 'ada', email: 'ada@example.org', email_verified_at: 5, username: 'ada', display_name: 'Ada' },
  ...{
    roles: 'member',
    kind: 'person' as const,
    password_hash: 'old',
    avatar_url: null,
    disabled_at: null,
    created_at: 1,
  },
}
const plan = (input: Parameters<typeof planChange>[1], row = before) =>
  planChange(row, input, { password_hash: input.password && 'new', now: 9 })

it.each([
  ['nothing', {}, {}, false, []],
  [
    'another address, which is unverified',
    { email: 'b@example.org' },
    { email: 'b@example.org', email_verified_at: null },
    true,
    ['email', 'email_verified'],
  ],
  [
    'another address, verified now',
    { email: 'b@example.org', email_verified: true },
    { email: 'b@example.org', email_verified_at: 9 },
    true,
    ['email', 'email_verified'],
  ],
  [
    'another spelling, which stays verified',
    { email: ' ADA@example.org' },
    { email: 'ADA@example.org' },
    false,
    ['email'],
  ],
  ['a name in NFC', { username: 'e\u0301' }, { username: 'é' }, false, ['username']],
  ['no display name', { display_name: '' }, { display_name: null }, false, ['display_name']],
  [
    'roles and a password',
    { roles: ['admin'], password: 'a new one' },
    { roles: 'admin', password_hash: 'new' },
    false,
    ['roles', 'password'],
  ],
] as const)('plans the change to %s', (_title, input, after, isMoved, changed) => {
  const planned = plan(input as Parameters<typeof planChange>[1])
  expect(planned.after).toEqual({ ...before, ...after })
  expect(planned.isMoved).toBe(isMoved)
  expect(planned.acts.flatMap(({ detail }) => detail?.changed ?? [])).toEqual(changed)
})

it('records when an account is disabled or enabled, and not again', () => {
  const { after, acts } = plan({ disabled: true })
  expect([after.disabled_at, acts]).toEqual([9, [{ act: 'user.disabled' }]])
  expect(plan({ disabled: true }, { ...before, disabled_at: 7 } as never)).toMatchObject({
    ...{ after: { disabled_at: 7 }, acts: [] },
  })
  expect(plan({ disabled: false }, { ...before, disabled_at: 7 } as never).acts).toEqual([{ act: 'user.enabled' }])
})
