import type { Row } from './row.ts'
import { access } from './rows/access.ts'
import { ackReaders } from './rows/ack-readers.ts'
import { answerParts } from './rows/answer-parts.ts'
import { answerReaders } from './rows/answer-readers.ts'
import { answersMe } from './rows/answers.ts'
import { applyOnceRows } from './rows/apply-once.ts'
import { assistantRows } from './rows/assistant.ts'
import { conversations } from './rows/conversations.ts'
import { crossNodes } from './rows/cross-node.ts'
import { downloads } from './rows/downloads.ts'
import { clientTypes, memoryStart, mounted } from './rows/embedding.ts'
import { fanoutCpu, fanoutRate } from './rows/fanout.ts'
import { feedWaiting } from './rows/feed-waiting.ts'
import { postsBesideUploads, rangeAtEnd, uploadMemory, uploadRate } from './rows/files.ts'
import { firstText } from './rows/first-text.ts'
import { followed } from './rows/followed.ts'
import { followers } from './rows/followers.ts'
import { foreignCommits, manyForeignCommits } from './rows/foreign-commits.ts'
import { fsck } from './rows/fsck.ts'
import { inbox } from './rows/inbox.ts'
import { clientSize, importTime } from './rows/loading.ts'
import { meLogins } from './rows/logins.ts'
import { streamsAll, streamsAllPg, streamsMember } from './rows/many-streams.ts'
import { marks, marksControl } from './rows/marks.ts'
import { mcpList } from './rows/mcp.ts'
import { mcpListenPost } from './rows/mcp-listeners.ts'
import { mcpWaitMemory, mcpWaitPost } from './rows/mcp-waits.ts'
import { mentionAll, mentions, notifyingReply } from './rows/mentions.ts'
import { peopleSearch } from './rows/people-search.ts'
import { postsPg32, postsPg32Cpu, postsPg32One } from './rows/postgres.ts'
import { posts1, posts32, postsRoots32 } from './rows/posts.ts'
import { postsPgNodes } from './rows/posts-nodes.ts'
import { programs } from './rows/programs.ts'
import { reactedTree, reaction } from './rows/reactions.ts'
import { readAll } from './rows/read-all.ts'
import { readAllConversations } from './rows/read-all-conversations.ts'
import { readers } from './rows/readers.ts'
import { tree, unreadAll, unreadAnywhere, unreadLatest, unreadNone } from './rows/reads.ts'
import { reconnect, reconnectP99 } from './rows/reconnect.ts'
import { removal, removalControl, removalRate } from './rows/removals.ts'
import { durablePost, me, rootPlain } from './rows/requests.ts'
import { resumes } from './rows/resumes.ts'
import { rooms } from './rows/room.ts'
import { search } from './rows/search.ts'
import { searchWait } from './rows/search-wait.ts'
import { postsSearched } from './rows/searched-posts.ts'
import { idleMemory, start } from './rows/start.ts'
import { storeLatency } from './rows/store-latency.ts'
import { streamMemory } from './rows/streams.ts'
import { timeline } from './rows/timeline.ts'
import { together } from './rows/together.ts'
import { typingNodes } from './rows/typing.ts'
import { waitingAnswers } from './rows/waiting-answers.ts'
import { web } from './rows/web.ts'
import { webHostile } from './rows/web-hostile.ts'
import { webLong } from './rows/web-long.ts'
import { webOpen } from './rows/web-open.ts'
import { webhookCosts } from './rows/webhook-costs.ts'
import { webhooks } from './rows/webhooks.ts'

/** The table, top to bottom. */
export const ROWS: Row[] = [
  posts32,
  postsRoots32,
  posts1,
  ...rooms,
  postsPg32,
  postsPg32Cpu,
  postsPg32One,
  ...ackReaders,
  fanoutCpu,
  fanoutRate,
  streamsAll,
  streamsAllPg,
  streamsMember,
  foreignCommits,
  manyForeignCommits,
  ...crossNodes,
  typingNodes,
  ...postsPgNodes,
  reconnect,
  reconnectP99,
  together,
  ...mentions,
  ...notifyingReply,
  ...mentionAll,
  ...followers,
  ...storeLatency,
  ...inbox,
  ...reaction,
  ...reactedTree,
  ...readers,
  ...mcpList,
  mcpWaitMemory,
  ...mcpWaitPost,
  ...mcpListenPost,
  ...firstText,
  ...resumes,
  ...answerReaders,
  ...postsSearched,
  ...searchWait,
  ...search,
  uploadRate,
  uploadMemory,
  rangeAtEnd,
  postsBesideUploads,
  ...downloads,
  ...durablePost,
  ...rootPlain,
  ...me,
  answersMe,
  ...assistantRows,
  ...answerParts,
  ...waitingAnswers,
  meLogins,
  marks,
  marksControl,
  removal,
  removalControl,
  removalRate,
  ...fsck,
  streamMemory,
  start,
  importTime,
  memoryStart,
  mounted,
  clientSize,
  clientTypes,
  idleMemory,
  tree,
  ...timeline,
  ...readAll,
  ...readAllConversations,
  ...followed,
  ...peopleSearch,
  ...access,
  conversations,
  unreadNone,
  unreadLatest,
  unreadAnywhere,
  unreadAll,
  ...web,
  ...webhooks,
  ...webhookCosts,
  ...feedWaiting,
  ...programs,
  ...applyOnceRows,
  ...webOpen,
  ...webLong,
  webHostile,
]
