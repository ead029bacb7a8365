/** The approval that a call needs before it runs. */
export interface ApprovalRule {
  by: 'asker' | 'admins' | 'members'
  quorum: number
  not_asker: boolean
  keys: boolean
  expires_seconds: number
}
