import * as bcrypt from '@node-rs/bcrypt'
import { expect, it } from 'vitest'
import { createPasswords } from '../../../lib/accounts/passwords/hash.ts'

const passwords = createPasswords(4)
const caller = { user: 'ada', ip: '192.0.2.1' }

it('accepts the correct password for a hash, and no other', async () => {
  const hash = await passwords.hash('correct horse', caller)
  expect(await passwords.verify('correct horse', hash, caller)).toBe(true)
  expect(await passwords.verify('correct hors', hash, caller)).toBe(false)
})

it.each([undefined, null, '', 'no hash', '$2b$04$short', `$2b$04$${'!'.repeat(53)}`])(
  'accepts no password for the stored hash %j, and throws nothing',
  async (stored) => {
    for (const password of ['correct horse', '', 'x'.repeat(100)])
      expect(await passwords.verify(password, stored, caller)).toBe(false)
  },
)

it("refuses a wrong password after the same work, whatever the cost of the account's hash", async () => {
  let rounds = 0
  const counting = {
    ...bcrypt,
    verify(password: string | Uint8Array, hash: string | Uint8Array) {
      rounds += 2 ** bcrypt.parseOptions(String(hash)).cost
      return bcrypt.verify(password, hash)
    },
  }
  const hashes = await Promise.all([4, 5, 7, 8].map((cost) => createPasswords(cost).hash('correct horse', caller)))
  const raised = createPasswords(7, counting)
  const workOf = async (password: string, hash: string | undefined) => {
    rounds = 0
    expect(await raised.verify(password, hash, caller)).toBe(false)
    return rounds
  }
  const [oldest, older, current, higher] = hashes
  for (const hash of [undefined, oldest, older, current]) expect(await workOf('wrong', hash)).toBe(2 ** 7)
  expect(await workOf('x'.repeat(100), oldest)).toBe(2 ** 7)
  // The cost was lowered: as soon as an older hash has been seen, every check costs as much.
  for (const hash of [higher, undefined, oldest, current]) expect(await workOf('wrong', hash)).toBe(2 ** 8)
})
