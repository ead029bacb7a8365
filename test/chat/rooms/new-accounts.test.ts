import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Files that add users who join nothing, and why. */
const NO_ACCOUNTS: Record<string, string> = {
  'lib/accounts/host-identity/system.ts': 'a system actor participates in no conversation',
  'lib/chat/copies/people.ts': 'the author of an imported conversation, who has not signed in',
  'lib/integrations/bots/service.ts': 'a bot joins when it is added',
  'lib/integrations/hooks/service.ts': 'the author of what a tool posts participates in nothing',
  'lib/ops/probe.ts': 'a transaction that is rolled back',
}

it('lets each way to an account join the conversations with automatic joins', () => {
  const files = readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('api/'))
    .map((file) => `lib/${file}`)
  const adding = files.filter((file) =>
    /\b(?:await|return) (?:insertUser|addUser|addNamedUser)\(/.test(readFileSync(file, 'utf8')),
  )
  const without = adding.filter((file) => !/\.joinRooms\(/.test(readFileSync(file, 'utf8')))
  expect(without.toSorted()).toEqual(Object.keys(NO_ACCOUNTS).toSorted())
  expect(adding.length - without.length).toBeGreaterThanOrEqual(7)
})
