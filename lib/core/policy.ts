/** The acts in a conversation that its policy may allow to other participants than the roles do. */
export const POLICY_ACTS = ['post', 'reply', 'react', 'attach', 'pin', 'add', 'invite', 'mention_all'] as const

/** An act that the policy of a conversation may decide about. */
export type PolicyAct = (typeof POLICY_ACTS)[number]

/** The participants that a policy may allow an act, from all of them to none. */
export const POLICY_VALUES = ['everyone', 'members', 'moderators', 'admins', 'owners', 'nobody'] as const

/** The participants that a policy allows an act. */
export type PolicyValue = (typeof POLICY_VALUES)[number]

/** The right that makes a role one of those that a value names; `everyone` and `nobody` depend on none. */
const RIGHT_OF = { members: 'post', moderators: 'moderate', admins: 'manage', owners: 'delete' } as const

const isAct = (act: string): act is PolicyAct => POLICY_ACTS.some((each) => each === act)

/**
 * The participants that a policy allows an act.
 *
 * @param policy as it is stored; `null` is none
 * @returns `undefined` where the role's own right decides
 */
export function policyOf(policy: string | null | undefined, act: string): PolicyValue | undefined {
  if (!policy || !isAct(act)) return undefined
  return (JSON.parse(policy) as Partial<Record<PolicyAct, PolicyValue>>)[act]
}

/**
 * Whether a value of a policy names a role.
 *
 * @param hasRight whether the role has a right
 */
export function isNamed(
  value: PolicyValue,
  hasRight: (right: (typeof RIGHT_OF)[keyof typeof RIGHT_OF]) => boolean,
): boolean {
  if (value === 'everyone') return true
  return value !== 'nobody' && hasRight(RIGHT_OF[value])
}
