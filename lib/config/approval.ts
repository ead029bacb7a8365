import * as v from 'valibot'
import type { ApprovalRule } from './approval-rule.ts'
import { flag, integer, key, oneOf, section } from './key.ts'

/** The default of `expires_seconds`: a day. */
const EXPIRES_SECONDS = 86_400

const approver = oneOf('asker', 'admins', 'members')
const quorum = integer(1, 10)
const expiry = integer(60, 2_592_000)

/** The approval that a tool needs, as its section in the configuration has it. */
export const ApprovalSection = section({
  by: key(
    approver,
    undefined,
    'Whose approval each call needs: that of the user who asked, of owners and admins of the conversation, or of those who may post there. Default: none.',
  ),
  quorum: key(quorum, undefined, 'How many must approve. Default: 1.'),
  not_asker: key(flag, undefined, 'Whether the user who asked may not approve. Default: false.'),
  keys: key(flag, undefined, 'Whether API keys and tokens of apps may decide for their user. Default: false.'),
  expires_seconds: key(expiry, undefined, 'After this time without a decision a call is not run. Default: 86400.', {
    unit: 'seconds',
  }),
})

/** The approval of a tool as a host names it. */
const HostedApproval = v.strictObject({
  by: approver,
  quorum: v.optional(quorum),
  not_asker: v.optional(flag),
  keys: v.optional(flag),
  expires_seconds: v.optional(expiry),
})
type HostedApproval = v.InferOutput<typeof HostedApproval>

/** What is wrong with the approval in a section: its key, and why. */
export function approvalProblem(
  approval: v.InferOutput<typeof ApprovalSection>,
): { key: string; message: string } | undefined {
  const { by, ...others } = approval
  if (by) return contradiction({ ...others, by })
  const set = Object.entries(others).find(([, value]) => value !== undefined)
  return set && { key: 'by', message: `must be set, as ${set[0]} is` }
}

/** The rule of a section, which has no {@link approvalProblem}; `undefined` if it asks for none. */
export function approvalOf({ by, ...others }: v.InferOutput<typeof ApprovalSection>): ApprovalRule | undefined {
  return by && toRule({ ...others, by })
}

/**
 * The rule that a host names.
 *
 * @throws TypeError for another value
 */
export function readApproval(value: unknown): ApprovalRule {
  const { issues, output } = v.safeParse(HostedApproval, value)
  if (issues) {
    const path = v.getDotPath(issues[0])
    if (issues[0].kind === 'schema' && path === null) throw new TypeError('approval must be an object with "by"')
    const isUnknown = issues[0].type === 'strict_object' && issues[0].expected === 'never'
    throw new TypeError(`approval.${path} ${isUnknown ? 'is no key of an approval' : messageOf(issues[0])}`)
  }
  const problem = contradiction(output)
  if (problem) throw new TypeError(`approval.${problem.key} ${problem.message}`)
  return toRule(output)
}

function messageOf({ type, message }: v.BaseIssue<unknown>): string {
  return type === 'strict_object' ? 'must be set' : message
}

function contradiction({ by, quorum = 1, not_asker }: HostedApproval): { key: string; message: string } | undefined {
  if (by !== 'asker') return undefined
  if (not_asker) return { key: 'not_asker', message: 'must be false where the asker approves' }
  if (quorum > 1) return { key: 'quorum', message: 'must be 1 where the asker approves' }
  return undefined
}

function toRule({
  by,
  quorum = 1,
  not_asker = false,
  keys = false,
  expires_seconds = EXPIRES_SECONDS,
}: HostedApproval): ApprovalRule {
  return { by, quorum, not_asker, keys, expires_seconds }
}
