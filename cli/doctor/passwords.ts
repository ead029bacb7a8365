import { loadBcrypt } from '../../lib/accounts/passwords/hash.ts'
import { toErrorMessage } from '../errors.ts'
import { type Finding, failure, ok } from './finding.ts'

/** Checks that passwords can be hashed: the service loads the addon for it with the first password. */
export async function checkPasswords(load: () => Promise<unknown> = loadBcrypt): Promise<Finding[]> {
  try {
    await load()
    return [ok('passwords.addon', 'Passwords can be hashed and checked.')]
  } catch (error) {
    return [
      failure(
        'passwords.addon',
        `No password can be hashed or checked: ${toErrorMessage(error)}`,
        'Install all packages on the machine and for the Node version that run the service: npm ci',
      ),
    ]
  }
}
