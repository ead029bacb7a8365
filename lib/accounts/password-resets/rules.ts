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
  const text = `Somebody, probably you, wants to set a new password for this address. Within an hour, do so ${where}\n\nIf it was not you, there is nothing to do.\n`
  return { to, subject: 'Set a new password', text, token }
}
