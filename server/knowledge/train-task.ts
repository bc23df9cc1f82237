/** The background job that makes a source live: this version of it, or nothing when a newer one has come. */
export const TRAIN_SOURCE = 'train-source'
export type TrainSource = { sourceId: string; version: number }
