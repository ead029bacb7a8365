/**
 * The URL of the host's page that verifies an address. The token comes after the `#`, so that no server log and no
 * `Referer` contains it.
 *
 * @param publicUrl `server.public_url`
 */
function verificationUrl(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/$/, '')}/verify-email#token=${token}`
}

/** The mail that verifies its address. It names the account, so that a person notices an account of another person. */
export function verificationMail(to: string, username: string, token: string, publicUrl: string | undefined) {
  const where =
    publicUrl === undefined ? `with this code:\n\n${token}` : `here:\n\n${verificationUrl(publicUrl, token)}`
  const text = `The account "${username}" was registered with this address. If it is yours, confirm it within a day ${where}\n\nIf it is not yours, do not confirm it: there is nothing to do.\n`
  return { to, subject: 'Confirm your e-mail address', text, token }
}
