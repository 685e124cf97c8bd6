#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tc/autotuner/search/search_space.h"
#include "tc/autotuner/tuner.h"
#include "tc/cache/cache.h"
#include "tc/engine/define/function.h"
#include "test/support/own_state.h"  // IWYU pragma: keep

namespace tc::autotuner {

inline constexpr const char* product_text = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
inline constexpr const char* sums_text =
    "def sums(float(M,N) A) -> (S, B) { S(m) +=! A(m,n)\n B(m,n) = A(m,n) - S(m) }";

inline std::shared_ptr<const engine::Function> function_of(const std::string& text) {
  return engine::define(text).functions.front();
}

inline TensorSpec matrix(std::int64_t rows, std::int64_t columns) {
  return contiguous(DType::Float32, {rows, columns});
}

/// What can be chosen for a product of matrices of 64 x 64 on two cores.
inline SearchSpace space() {
  auto function = function_of(product_text);
  return {*function, engine::make_arguments(*function, {matrix(64, 64), matrix(64, 64)}, {}),
          Target::parse("cpu:avx2,cores=2")};
}

/// A folder that goes with the object.
class Folder {
 public:
  Folder() {
    path_ = (std::filesystem::temp_directory_path() / "tc_tuner_test.XXXXXX").string();
    ::mkdtemp(path_.data());
  }
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A cache in the folder \p path.
inline std::shared_ptr<cache::Cache> cache_in(const std::string& path, bool writable = true) {
  cache::CacheSettings settings;
  settings.folder = path;
  settings.writable = writable;
  return std::make_shared<cache::Cache>(settings);
}

/// Tensors that hold small numbers.
class Inputs {
 public:
  explicit Inputs(const std::vector<TensorSpec>& specs) {
    for (const auto& spec : specs) {
      data_.emplace_back(static_cast<std::size_t>(spec.element_count()));
      for (std::size_t i = 0; i < data_.back().size(); ++i) data_.back()[i] = static_cast<float>(i * 7 % 13) - 6;
      TensorView view;
      static_cast<TensorSpec&>(view) = spec;
      views_.push_back(view);
    }
    for (std::size_t i = 0; i < views_.size(); ++i) views_[i].data = data_[i].data();
  }
  const std::vector<TensorView>& views() const { return views_; }

 private:
  std::vector<std::vector<float>> data_;
  std::vector<TensorView> views_;
};

/// Settings for tunings that end soon; \p faults as chaos_test.cpp says, "" for none.
inline TuneSettings quick(int candidates, std::uint64_t seed = 1, const std::string& faults = "") {
  TuneSettings settings;
  settings.worker = {"/proc/self/exe", "--worker", faults};
  settings.budget = 0;
  settings.candidates = candidates;
  settings.seed = seed;
  settings.genetic.population = 6;
  settings.target = Target::parse("cpu:avx2,cores=2,l1=32k,l2=1m,l3=16m");
  settings.threads = 2;
  settings.compilers = 2;
  settings.measure_seconds = 0.002;
  settings.final_seconds = 0.02;
  return settings;
}

}  // namespace tc::autotuner
