/** The requests over HTTP that this process has had: what can wait gives them precedence. */
export interface Load {
  /** Counts a request that has arrived. */
  arrived(): void
  /** Counts a call that has ended, unless it brought a part of a file. */
  answered(): void
  /** How many requests have arrived. */
  arrivals(): number
  /** How many calls have ended that brought no part of a file. */
  answers(): number
}

/** Creates the counts of one process. */
export function createLoad(): Load {
  let arrivals = 0
  let answers = 0
  return {
    arrived: () => void arrivals++,
    answered: () => void answers++,
    arrivals: () => arrivals,
    answers: () => answers,
  }
}
