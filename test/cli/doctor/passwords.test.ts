import { expect, it } from 'vitest'
import { checkPasswords } from '../../../cli/doctor/passwords.ts'

it('reports when no password can be hashed', async () => {
  expect(await checkPasswords()).toMatchObject([{ code: 'passwords.addon', severity: 'ok' }])
  const missing = async () => {
    throw new Error('Passwords need the addon of @node-rs/bcrypt: install it without --omit=optional')
  }
  expect(await checkPasswords(missing)).toMatchObject([
    {
      code: 'passwords.addon',
      severity: 'error',
      message: expect.stringContaining('addon'),
      remedy: expect.anything(),
    },
  ])
})
