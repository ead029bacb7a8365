import { texts } from '../texts/texts.ts'

/** The name of a role of participants on the page; one of the host's own is called as it is configured. */
export function roleName(role: string): string {
  const names: Record<string, string> = texts.value.roles
  return names[role] ?? role
}
