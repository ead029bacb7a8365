import { signal } from '@preact/signals'

/** Of whom a card is shown, and where. */
export interface ShownProfile {
  user_id: string
  conversation_id: string
}

/** The card that is open. */
export const shownProfile = signal<ShownProfile | undefined>(undefined)
