/**
 * The URL of the host's page that sets a new password. The token comes after the `#`, so that no server log and no
 * `Referer` contains it.
 *
 * @param publicUrl `server.public_url`
 */
export function resetUrl(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/$/, '')}/reset-password#token=${token}`
}
