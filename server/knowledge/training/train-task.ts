/** The background job that makes this version of a source live, or does nothing when there is a newer one. */
export const TRAIN_SOURCE = 'train-source'
export type TrainSource = { sourceId: string; version: number }
