/** The form of the service for a token, where the service does not know its own address: that of this page leads there. */
export function formLink(base_url: string, form: 'reset-password' | 'sign-up', token: string): string {
  return `${base_url}/account/${form}#token=${encodeURIComponent(token)}`
}
