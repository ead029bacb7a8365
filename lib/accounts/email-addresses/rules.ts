/**
 * The URL of the host's page that verifies an address. The token comes after the `#`, so that no server log and no
 * `Referer` contains it.
 *
 * @param publicUrl `server.public_url`
 */
export function verificationUrl(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/$/, '')}/verify-email#token=${token}`
}
