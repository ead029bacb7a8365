/** An assistant that can be asked. */
export interface OfferedAssistant {
  /** Missing until they are read: then it is the default that is asked. */
  key?: string
  title: string
  avatar_url?: string
  default?: true
}
