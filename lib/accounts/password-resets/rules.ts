/**
 * The URL of the host's page that sets a new password. The token comes after the `#`, so that no server log and no
 * `Referer` contains it.
 *
 * @param publicUrl `server.public_url`
 */
export function resetUrl(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/$/, '')}/reset-password#token=${token}`
}

/** The mail with a reset link. */
export function resetMail(to: string, token: string, publicUrl: string | undefined) {
  const where = publicUrl === undefined ? `with this code:\n\n${token}` : `here:\n\n${resetUrl(publicUrl, token)}`
  const text = `A new password was requested for the account with this address. Set it within an hour ${where}\n\nIf it was not you, there is nothing to do.\n`
  return { to, subject: 'Set a new password', text, token }
}
