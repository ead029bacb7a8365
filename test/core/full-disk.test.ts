import { expect, it } from 'vitest'
import type { AnyUseCase } from '../../lib/core/use-case.ts'
import { USE_CASES } from '../../lib/features.ts'

/** Verbs of what deletes, or ends a means of access. */
const FREEING = /^(remove|revoke|end|erase|delete|drop|logout|lockDown|forget|unpin)/

/** What has such a name, and yet does neither for its caller: a rule of limits, a mail that could not be sent, the end of a text. */
const NEED_NO_RESERVE = ['answers.end', 'limits.deleteAssignment', 'limits.deleteProfile', 'mails.drop']

it('each use-case that deletes, or ends a means of access, may use the reserve of a full disk', () => {
  const all = Object.entries(USE_CASES as Record<string, Record<string, AnyUseCase>>).flatMap(([feature, verbs]) =>
    Object.entries(verbs).map(([verb, { frees }]) => ({ name: `${feature}.${verb}`, verb, frees })),
  )
  const without = all.filter(({ verb, frees }) => FREEING.test(verb) && !frees).map(({ name }) => name)
  expect(without.sort()).toEqual(NEED_NO_RESERVE)
  expect(
    all
      .filter(({ frees }) => frees === 'whole')
      .map(({ name }) => name)
      .sort(),
  ).toEqual([
    'auth.logout',
    'auth.revokeSession',
    'grants.revokeAny',
    'keys.revokeAny',
    'oauthClients.remove',
    'serverKeys.revoke',
    'sessions.endForSubject',
    'sessions.revoke',
    'users.endSession',
    'users.endSessions',
    'users.lockDown',
  ])
})
