/** What an answer of the assistant has used. */
export interface MeterEntry {
  message_id: string
  /** A title is no answer, but is paid for as one. */
  kind: 'answer' | 'title'
  /** When the question was asked. RFC 3339. */
  at: string
  /** The user who asked, unless that user is erased. */
  user_id?: string
  conversation_id: string
  /** The key of the assistant. */
  assistant: string
  /** Empty for an assistant in code without a configured model. */
  model: string
  steps: number
  prompt_tokens: number
  completion_tokens: number
  /** How many of `prompt_tokens` the provider had in its cache. */
  cached_tokens: number
  /** How many of `completion_tokens` the model spent on reasoning. */
  reasoning_tokens: number
  /** By `prices`, in millionths of `currency`. */
  cost_micros: number
  /** `usage.currency`. */
  currency: string
  /** The provider has not counted the tokens. */
  estimated?: true
}
