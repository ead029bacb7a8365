import type { Context } from '../../context.ts'

/** Whether users sign in at the service itself, and not only at a host. */
export const hasSignIn = ({
  config,
  host,
}: {
  config: Pick<Context['config'], 'auth'>
  host: Pick<Context['host'], 'identity'>
}) => !host.identity && config.auth.sign_in
