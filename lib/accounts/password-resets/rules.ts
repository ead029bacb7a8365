/**
 * Where a person sets a new password: a page of the host's. The token comes after the `#`, so that it is in no log of
 * a server and in no `Referer`.
 *
 * @param publicUrl `server.public_url`
 */
export function resetUrl(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/$/, '')}/reset-password#token=${token}`
}

/** What the mail to somebody who has forgotten a password says. */
export function resetMail(to: string, token: string, publicUrl: string | undefined) {
  const where = publicUrl === undefined ? `with this code:\n\n${token}` : `here:\n\n${resetUrl(publicUrl, token)}`
  const text = `Somebody, probably you, wants to set a new password for this address. Within an hour, do so ${where}\n\nIf it was not you, there is nothing to do.\n`
  return { to, subject: 'Set a new password', text, token }
}
