import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, type Person } from '../../support/service.ts'

describeService('a conversation', (service) => {
  let ada: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
  })

  it('has a policy that only owners and admins set', async () => {
    const { conversation_id: id } = await ada.conversations.create({ title: 'Policies' })
    const roles = ['admin', 'member', 'viewer'] as const
    const people = await Promise.all(roles.map((role) => service.signIn(`of-${role}`)))
    for (const [n, { id: user_id }] of people.entries()) await ada.participants.add(id, { user_id, role: roles[n]! })
    const [admin, member, viewer] = people as [Person, Person, Person]
    const changed = await admin.conversations.rename(id, { policy: { mention_all: 'nobody' } })
    expect(changed.policy).toEqual({ mention_all: 'nobody', receipts: 'off' })
    expect((await ada.conversations.rename(id, { policy: { receipts: 'on' } })).policy).toEqual({
      mention_all: 'nobody',
      receipts: 'on',
    })
    for (const person of [member, viewer])
      expect(await codeOf(person.conversations.rename(id, { policy: { receipts: 'off' } }))).toBe('forbidden')
    expect(await codeOf(admin.conversations.rename(id, { policy: { receipts: 'off' }, title: 'x' }))).toBe('forbidden')
    // Not built yet: refused, and not ignored.
    const later = { policy: { retention_seconds: 60 } } as never
    expect(await codeOf(ada.conversations.rename(id, later))).toBe('validation_failed')
    expect(await codeOf(ada.conversations.rename(id, { policy: [] as never }))).toBe('validation_failed')
    for (const person of [ada, admin])
      expect((await person.conversations.rename(id, { policy: {} })).policy.receipts).toBe('on')
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'conversation.policy_changed' })
    expect(entries.filter(({ subject_id }) => subject_id === id).map(({ detail }) => detail)).toEqual([
      { receipts: 'on' },
      { mention_all: 'nobody' },
    ])
  })
})
