/** Options of `chat.start`. */
export interface StartOptions {
  /** `false` starts no background jobs: for a command beside a running service. */
  background?: boolean
  /** `true` accepts tables that were modified by others: for a check that reports them. */
  changed?: boolean
}
