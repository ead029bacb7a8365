import type { Context } from '../../context.ts'

/** Whether users sign in at the service itself, and not only at a host. */
export function hasSignIn({ config, host }: Pick<Context, 'config' | 'host'>): boolean {
  return !host.identity && config.auth.sign_in
}
