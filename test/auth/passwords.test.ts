import { expect, it } from 'vitest'
import { createPasswords } from '../../lib/auth/passwords.ts'

const passwords = createPasswords(4)

it('takes the right password for the hash of it, and no other', async () => {
  const hash = await passwords.hash('correct horse')
  expect(await passwords.verify('correct horse', hash)).toBe(true)
  expect(await passwords.verify('correct hors', hash)).toBe(false)
})

it.each([undefined, null, '', 'no hash', '$2b$04$short', `$2b$04$${'!'.repeat(53)}`])(
  'takes no password where %j is stored, and throws nothing',
  async (stored) => {
    for (const password of ['correct horse', '', 'x'.repeat(100)])
      expect(await passwords.verify(password, stored)).toBe(false)
  },
)
